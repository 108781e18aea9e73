"""Where the files of TimeBench are: `!function sources.NAME` is the URL of one.

The commit stands here alone. To use another one, change it here.
"""

COMMIT = "e7fd6722fd0b3814dc595912749223d45e42fab9"
SUBSET = (
    f"https://raw.githubusercontent.com/zchuz/TimeBench/{COMMIT}/TimeBench-subset-7553"
)

timexnli_s1 = f"{SUBSET}/TimeX-NLI/timexnli_cs1_timebench.jsonl"
timexnli_s2 = f"{SUBSET}/TimeX-NLI/timexnli_cs2_timebench.jsonl"
timexnli_s3 = f"{SUBSET}/TimeX-NLI/timexnli_cs3_timebench.jsonl"
date_arithmetic = f"{SUBSET}/TempReason/tempreason_l1_timebench.jsonl"
durationqa = f"{SUBSET}/DurationQA/durationqa_f2_timebench.jsonl"
mctaco = f"{SUBSET}/McTaco/mctaco_f2_timebench.jsonl"
timedial = f"{SUBSET}/TimeDial/timedial_f2_timebench.jsonl"
situatedgen = f"{SUBSET}/SituatedGen/situatedgen_timebench.jsonl"
timeqa_explicit = f"{SUBSET}/TimeQA/timeqa_easy_timebench.jsonl"
timeqa_implicit = f"{SUBSET}/TimeQA/timeqa_hard_timebench.jsonl"
menatqa_scope = f"{SUBSET}/MenatQA/menatqa_scope_timebench.jsonl"
menatqa_order = f"{SUBSET}/MenatQA/menatqa_order_timebench.jsonl"
menatqa_counterfactual = f"{SUBSET}/MenatQA/menatqa_counterfactual_timebench.jsonl"
tempreason_l2 = f"{SUBSET}/TempReason/tempreason_l2_timebench.jsonl"
tempreason_l3 = f"{SUBSET}/TempReason/tempreason_l3_timebench.jsonl"
tracie = f"{SUBSET}/TRACIE/tracie_timebench.jsonl"
