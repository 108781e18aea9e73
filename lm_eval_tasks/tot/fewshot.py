"""Few-shot examples of ToT, written for this pack; none is a row of the benchmark."""


def arithmetic_samples() -> list[dict]:
    """Return documents of ToT arithmetic, in one piece and in two, with answers."""
    samples = [
        {
            "question_wo_instruct": (
                "A library book was due on June 3, 2015 and came back 40 days late."
                " On which date did it come back?"
            ),
            "instruction": (
                'Give your answer as a JSON: {"explanation": <your steps>, "date":'
                ' "mm/dd/yyyy"}.'
            ),
            "worked_answer": (
                '{"explanation": "June has 30 days, so 27 days after June 3 is June 30.'
                ' The other 13 days end on July 13, 2015.", "date": "07/13/2015"}'
            ),
        },
        {
            "question_wo_instruct": (
                "A ferry crosses the strait in 1 hour, 25 minutes and 30 seconds. Its"
                " crew makes 4 crossings without a pause. How long are they at sea?"
            ),
            "instruction": (
                'Give your answer as a JSON: {"explanation": <your steps>, "hours":'
                ' <number>, "minutes": <number>, "seconds": <number>}.'
            ),
            "worked_answer": (
                '{"explanation": "1:25:30 is 5130 seconds. Four times that is 20520'
                " seconds, which is 5 hours and 2520 seconds, and 2520 seconds are 42"
                ' minutes.", "hours": 5, "minutes": 42, "seconds": 0}'
            ),
        },
        {
            "question_wo_instruct": (
                "Nils was born on 12 May 1971, Vera in August 1969 and Ida on"
                " 1970-02-27. Who is the oldest, the second and the youngest?"
            ),
            "instruction": (
                'Give your answer as a JSON: {"explanation": <your steps>,'
                ' "ordered_list": [name1, name2, ...]}.'
            ),
            "worked_answer": (
                '{"explanation": "1969 comes before 1970, and 1970 before 1971.",'
                ' "ordered_list": ["Vera", "Ida", "Nils"]}'
            ),
        },
        {
            "question_wo_instruct": (
                "A night train leaves at 22:10:00 and is on its way for 7 hours and 5"
                " minutes. When does it arrive?"
            ),
            "instruction": (
                'Give your answer as a JSON: {"explanation": <your steps>, "day":'
                ' "same_day/+x/-x", "time": "HH:MM:SS"}.'
            ),
            "worked_answer": (
                '{"explanation": "There are 1 hour and 50 minutes until midnight. The'
                ' other 5 hours and 15 minutes are on the next day.", "day": "+1",'
                ' "time": "05:15:00"}'
            ),
        },
    ]
    return [
        {
            **sample,
            "question": f"{sample['question_wo_instruct']} {sample['instruction']}",
        }
        for sample in samples
    ]


def semantic_samples() -> list[dict]:
    """Return documents of ToT semantic, in one piece and in two, with answers."""
    instruction = (
        'Give a JSON with two fields, "explanation" and "answer", and nothing else.'
    )
    samples = [
        {
            "facts": (
                "E31 held R4 for E60 from 1951 to 1956.\n"
                "E12 held R4 for E60 from 1956 to 1963.\n"
                "E31 held R9 for E44 from 1958 to 1961."
            ),
            "question": "Who held R4 for E60 in 1959?",
            "worked_answer": (
                '{"explanation": "1959 lies between 1956 and 1963, when E12 held R4 for'
                ' E60.", "answer": "E12"}'
            ),
        },
        {
            "facts": (
                "E7 held R2 for E90 from 1984 to 1991.\n"
                "E25 held R2 for E90 from 1977 to 1984.\n"
                "E25 held R6 for E38 from 1991 to 1992."
            ),
            "question": "For how many years did E25 hold R2 for E90?",
            "worked_answer": (
                '{"explanation": "From 1977 to 1984 are 7 years.", "answer": "7"}'
            ),
        },
        {
            "facts": (
                "E58 held R3 for E15 from 2003 to 2008.\n"
                "E82 held R3 for E15 from 1995 to 1999.\n"
                "E40 held R3 for E15 from 1999 to 2003."
            ),
            "question": (
                "Who held R3 for E15? List them in the order in which they began,"
                " separated by commas."
            ),
            "worked_answer": (
                '{"explanation": "They began in 1995, 1999 and 2003.", "answer":'
                ' "E82,E40,E58"}'
            ),
        },
    ]
    return [
        {
            **sample,
            "instruction": instruction,
            "prompt": f"{sample['facts']}\n\n{instruction}\n\n{sample['question']}",
            "question_wo_instruct": f"{sample['facts']}\n\n{sample['question']}",
        }
        for sample in samples
    ]
