#include <warpband/link/receive/soft.hpp>

namespace wb {
namespace {

/// A detector whose output is extrinsic where it takes a prior.
class any_detector final : public soft_detector {
 public:
  explicit any_detector(std::unique_ptr<detector> d) : detector_(std::move(d)) {}
  std::size_t bits_per_use() const noexcept override { return detector_->bits_per_use(); }
  bool takes_prior() const noexcept override { return detector_->takes_prior(); }
  void run(executor& exec, const detector_input& in, const detector_output& out) const override {
    detector_->run(exec, in, out);
  }

 private:
  std::unique_ptr<detector> detector_;
};

}  // namespace

std::unique_ptr<soft_detector> make_soft_detector(const detector_config& config) {
  detector_config c = config;
  std::unique_ptr<detector> made = make_detector(c);
  if (made->takes_prior() && !c.extrinsic) {
    c.extrinsic = true;
    made = make_detector(c);
  }
  return std::make_unique<any_detector>(std::move(made));
}

}  // namespace wb
