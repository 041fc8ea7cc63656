#include "cuda/host/Context.h"
#include "src/Checks.h"
using namespace mhcrt;
mhcrt_status mhcrt::runPreGatedDeltaRule(mhcrt_context &context, const PreGatedDeltaRuleArgs &a) { checkPreGatedDeltaRule(context, a, Ids::OnDevice); return context.fail(MHCRT_INVALID_ARGUMENT, "not there yet"); }
