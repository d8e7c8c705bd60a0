"""Prints the folder of the block descriptions, for GRC_BLOCKS_PATH of GNU Radio Companion."""
import pathlib

print(pathlib.Path(__file__).resolve().parent / "grc")
