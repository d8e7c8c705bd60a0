/* Declarations of the functions of MATLAB's C matrix API and MEX API that warpband_mex.c calls, by their documentation. The gateway is
 * compiled against them where there is no MATLAB, and never linked. MATLAB's or Octave's own mex.h makes a gateway that runs. */
#ifndef WARPBAND_STUB_MEX_H
#define WARPBAND_STUB_MEX_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mxArray_tag mxArray;
typedef size_t mwSize;
typedef enum { mxREAL, mxCOMPLEX } mxComplexity;
typedef enum { mxSINGLE_CLASS = 7, mxINT8_CLASS, mxUINT8_CLASS, mxINT16_CLASS, mxUINT16_CLASS, mxINT32_CLASS, mxUINT32_CLASS } mxClassID;

void mexFunction(int nlhs, mxArray* plhs[], int nrhs, const mxArray* prhs[]);
void mexErrMsgIdAndTxt(const char* id, const char* format, ...);
int mexAtExit(void (*function)(void));
void* mxCalloc(size_t count, size_t bytes);
mxArray* mxCreateNumericMatrix(mwSize rows, mwSize columns, mxClassID type, mxComplexity complexity);
mxClassID mxGetClassID(const mxArray* array);
void* mxGetData(const mxArray* array);
const mwSize* mxGetDimensions(const mxArray* array);
mxArray* mxGetFieldByNumber(const mxArray* array, size_t index, int field);
const char* mxGetFieldNameByNumber(const mxArray* array, int field);
size_t mxGetM(const mxArray* array);
size_t mxGetN(const mxArray* array);
mwSize mxGetNumberOfDimensions(const mxArray* array);
size_t mxGetNumberOfElements(const mxArray* array);
int mxGetNumberOfFields(const mxArray* array);
double mxGetScalar(const mxArray* array);
int mxGetString(const mxArray* array, char* text, mwSize bytes);
bool mxIsChar(const mxArray* array);
bool mxIsComplex(const mxArray* array);
bool mxIsLogical(const mxArray* array);
bool mxIsNumeric(const mxArray* array);
bool mxIsSparse(const mxArray* array);
bool mxIsStruct(const mxArray* array);

#endif
