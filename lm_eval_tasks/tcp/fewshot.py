"""Few-shot examples of TCP, written for this pack; none is a row of the benchmark."""


def short_samples() -> list[dict]:
    """Return documents of TCP short, each with a worked answer."""
    return [
        {
            "dialogue": [
                "Ana: We start on 2024-03-11 at 09:00 GMT. I write the draft, three hours.",
                "Ben: Then I review it, two hours. I am in from 13:00 to 21:00 GMT.",
                "Ana: I work from 09:00 to 17:00 GMT, so I can begin at once.",
            ],
            "question": "When is the review done at the earliest, in GMT?",
            "answer_format": "YYYY-MM-DD HH:MM GMT",
            "worked_answer": (
                "Ana drafts from 09:00 to 12:00 on 2024-03-11. Ben can start at 13:00,"
                " which is after the draft, and needs two hours, until 15:00.\n"
                "\\boxed{2024-03-11 15:00 GMT}"
            ),
        },
        {
            "dialogue": [
                "Priya: The wiring takes me four hours. I can begin at 10:00 GMT on"
                " 2024-06-03 and have lunch from 12:00 to 13:00 GMT.",
                "Tom: The test comes after the wiring. Three hours, and I am on the"
                " evening shift, 16:00 to 24:00 GMT.",
            ],
            "question": "What is the earliest time at which the test can be over?",
            "answer_format": "YYYY-MM-DD HH:MM GMT",
            "worked_answer": (
                "Priya works from 10:00 to 12:00 and, after lunch, from 13:00 to 15:00:"
                " four hours. Tom starts with his shift at 16:00 and tests until 19:00."
                "\n\\boxed{2024-06-03 19:00 GMT}"
            ),
        },
        {
            "dialogue": [
                "Lena: I migrate the records. That is five hours of work, and my day is"
                " 09:00 to 17:00 GMT.",
                "Omar: Once you are done I sign off, one hour. I am there from 10:00 to"
                " 18:00 GMT.",
                "Lena: The kick-off is at 14:00 GMT on 2025-01-20.",
            ],
            "question": "When will the sign-off be finished if nobody loses time?",
            "answer_format": "YYYY-MM-DD HH:MM GMT",
            "worked_answer": (
                "On 2025-01-20 Lena works from 14:00 to 17:00, three hours. The other"
                " two are on 2025-01-21 from 09:00 to 11:00. Omar is there then and"
                " signs off until 12:00.\n\\boxed{2025-01-21 12:00 GMT}"
            ),
        },
    ]


def long_samples() -> list[dict]:
    """Return documents of TCP long, each with a worked answer."""
    return [
        {
            "dialogue": [
                "Mei: I do the survey from 2024-05-06 on. Three days.",
                "Raj: The design is mine after that, four days. I am away on May 10.",
                "Mei: Weekends count as working days for this one.",
            ],
            "question": "On which day is the design finished at the earliest?",
            "answer_format": "YYYY-MM-DD",
            "worked_answer": (
                "The survey takes May 6, 7 and 8. Raj designs on May 9, skips May 10,"
                " and goes on on May 11, 12 and 13.\n\\boxed{2024-05-13}"
            ),
        },
        {
            "dialogue": [
                "Iris: I pour the foundation, five days, beginning on 2023-02-01.",
                "Cole: On the same day I begin with the permits, two days. The frame"
                " needs both of these, and then three days of mine.",
            ],
            "question": "What is the last day of the work on the frame?",
            "answer_format": "YYYY-MM-DD",
            "worked_answer": (
                "The foundation is done on February 5 and the permits on February 2, so"
                " the frame starts on February 6 and takes until February 8.\n"
                "\\boxed{2023-02-08}"
            ),
        },
        {
            "dialogue": [
                "Yuki: I have four days of interviews, then two days for the report.",
                "Sam: You can start on 2025-08-28, can't you?",
                "Yuki: Yes, but I am not available on August 30 and 31.",
            ],
            "question": "When does Yuki finish the report?",
            "answer_format": "YYYY-MM-DD",
            "worked_answer": (
                "The interviews take August 28 and 29 and September 1 and 2. The report"
                " takes September 3 and 4.\n\\boxed{2025-09-04}"
            ),
        },
    ]
