#include "cpu/Entry.h"
#include "src/Checks.h"
using namespace mhcrt;
mhcrt_status mhcrt::runPreGatedDeltaRule(mhcrt_context &context, const PreGatedDeltaRuleArgs &a) { checkPreGatedDeltaRule(context, a, Ids::OnDevice); return context.fail(MHCRT_INVALID_ARGUMENT, "not there yet"); }
MHCRT_ENTRY(pre_gated_delta_rule, PreGatedDeltaRule)
