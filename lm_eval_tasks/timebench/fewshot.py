"""Few-shot examples of TimeBench, written for this pack; none is one of its rows.

Each function bears the name of a task, without the prefix, and returns three documents.
"""

_THREE_WAY = ("Entailment", "Neutral", "Contradiction")
_TWO_WAY = ("Entailment", "Contradiction")


def _sample(*, reasoning: str, answer: str, **fields) -> dict:
    """Return a document with these fields and the answer as a model should give it."""
    worked_answer = f"{reasoning}\nThus, the correct answer is: {answer}"
    return {**fields, "worked_answer": worked_answer}


def _inference(
    premise: str, hypothesis: str, reasoning: str, label: str, labels=_THREE_WAY
) -> dict:
    """Return a document that asks for one of the labels."""
    return _sample(
        premise=premise,
        hypothesis=hypothesis,
        options=list(labels),
        reasoning=reasoning,
        answer=f"{'ABC'[labels.index(label)]}. {label}",
    )


def timexnli_s1() -> list[dict]:
    """Return documents on the order of dates, each with a worked answer."""
    return [
        _inference(
            "The choir of Brenn will sing in Velmar after March 1968.",
            "The choir of Brenn will sing in Velmar after Aug 1972.",
            "A day after March 1968 can lie before or after Aug 1972. Both can be.",
            "Neutral",
        ),
        _inference(
            "On 14th Sep 1902, Odile opened her bakery.",
            "Odile opened her bakery before 3rd Feb 1911.",
            "14th Sep 1902 is earlier than 3rd Feb 1911, so it is before that day.",
            "Entailment",
        ),
        _inference(
            "The Corrin mill burned down before June 1931.",
            "The Corrin mill burned down after Nov 1936.",
            "June 1931 is earlier than Nov 1936. What happened before June 1931 cannot"
            " have happened after Nov 1936.",
            "Contradiction",
        ),
    ]


def timexnli_s2() -> list[dict]:
    """Return documents on the time between two times, each with a worked answer."""
    return [
        _inference(
            "The ferry to Garrow Island ran from Feb 1903 to May 1911.",
            "The ferry to Garrow Island ran for 112 months.",
            "From Feb 1903 to Feb 1911 is 8 years, or 96 months. To May 1911 is 3"
            " more, so the ferry ran for 99 months and not 112.",
            "Contradiction",
            _TWO_WAY,
        ),
        _inference(
            "The flower show in Tolbrook started in Apr and ended in June.",
            "The flower show in Tolbrook lasted for less than 5 months.",
            "From Apr to June is 2 months. 2 months are less than 5 months.",
            "Entailment",
            _TWO_WAY,
        ),
        _inference(
            "The night bus left Orrin at 9 PM and arrived in Dunvale at 4 AM.",
            "The ride from Orrin to Dunvale took less than 6 hours.",
            "From 9 PM to midnight is 3 hours, and to 4 AM is 4 more. 7 hours are"
            " not less than 6 hours.",
            "Contradiction",
            _TWO_WAY,
        ),
    ]


def timexnli_s3() -> list[dict]:
    """Return documents on durations in unlike units, each with a worked answer."""
    return [
        _inference(
            "Before 5 hours, the tide will reach the old pier.",
            "After 400 minutes, the tide will reach the old pier.",
            "5 hours are 300 minutes. What comes before 300 minutes cannot come after"
            " 400 minutes.",
            "Contradiction",
        ),
        _inference(
            "In 2 years, the Velmar bridge will open.",
            "The Velmar bridge will open before 30 months.",
            "2 years are 24 months. 24 months are less than 30 months.",
            "Entailment",
        ),
        _inference(
            "The seed vault will be sealed after 6 days.",
            "The seed vault will be sealed before 200 hours.",
            "6 days are 144 hours. A time after 144 hours can be before or after 200"
            " hours.",
            "Neutral",
        ),
    ]


def tracie() -> list[dict]:
    """Return documents of TRACIE, each with a worked answer."""
    return [
        _inference(
            "Wanda found an old bicycle in her uncle's barn. She pumped up the tires"
            " and oiled the chain. On Saturday she rode it to the market. Everyone"
            " there admired the red frame.",
            "The bicycle is put in the barn starts before Wanda finds the bicycle",
            "Wanda finds the bicycle in the barn. It must have been put there earlier.",
            "Entailment",
            _TWO_WAY,
        ),
        _inference(
            "Ludo was slicing onions for a stew. The knife slipped and cut his finger."
            " His sister put a bandage on it. Then she sliced the other onions"
            " herself.",
            "Ludo's finger hurts starts after his sister puts a bandage on it",
            "The finger hurts from the moment of the cut. The bandage comes after the"
            " cut, so the pain starts before the bandage and not after it.",
            "Contradiction",
            _TWO_WAY,
        ),
        _inference(
            "Ines wanted tomatoes of her own. She planted a row of them behind the shed"
            " in May. She watered them every evening. In August she picked them all and"
            " cooked a big pot of sauce.",
            "Ines plants the tomatoes ends before she cooks the sauce",
            "Ines planted the tomatoes in May. They had to grow until August, when she"
            " cooked the sauce, so the planting was over by then.",
            "Entailment",
            _TWO_WAY,
        ),
    ]


def date_arithmetic() -> list[dict]:
    """Return documents of date arithmetic, each with a worked answer."""
    return [
        _sample(
            question="What is the time 7 months before Mar, 1456",
            reasoning=(
                "3 months before Mar, 1456 is Dec, 1455. 4 months before that is Aug,"
                " 1455."
            ),
            answer="Aug, 1455",
        ),
        _sample(
            question="What is the time 4 year and 9 month after Jun, 1702",
            reasoning=(
                "4 years after Jun, 1702 is Jun, 1706. 6 months after that is Dec,"
                " 1706, and 3 more lead to Mar, 1707."
            ),
            answer="Mar, 1707",
        ),
        _sample(
            question="What is the time 3 year and 6 month before Nov, 1618",
            reasoning=(
                "3 years before Nov, 1618 is Nov, 1615. 6 months before that is May,"
                " 1615."
            ),
            answer="May, 1615",
        ),
    ]


def durationqa() -> list[dict]:
    """Return documents of DurationQA, each with a worked answer."""
    return [
        _sample(
            context="Marta rinsed a bowl of strawberries. Then she cut the cake.",
            question="How long did it take Marta to rinse the strawberries?",
            options=["1 minute", "3 days", "two minutes", "5 years"],
            reasoning=(
                "A bowl of fruit is rinsed within a few minutes. 1 minute and two"
                " minutes fit, days and years do not."
            ),
            answer="A, C",
        ),
        _sample(
            context=(
                "With picks and mules, the crew laid forty miles of track across the"
                " Ulmar plateau. They went through rock and snow."
            ),
            question="How long did it take to lay the track?",
            options=["20 seconds", "half an hour", "14 months", "6 centuries"],
            reasoning=(
                "Forty miles of track by hand are the work of months or a few years."
                " Seconds and half an hour are too short, and centuries are too long."
            ),
            answer="C",
        ),
        _sample(
            context=(
                "Old Henrik whistled the whole tune for his granddaughter. Then he"
                " asked her to try."
            ),
            question="How long did Henrik whistle?",
            options=["four months", "2 minutes", "90 seconds", "about a minute"],
            reasoning=(
                "It takes a minute or a few to whistle a tune. Only four months does"
                " not fit."
            ),
            answer="B, C, D",
        ),
    ]


def mctaco() -> list[dict]:
    """Return documents of MCTACO, each with a worked answer."""
    return [
        _sample(
            context=(
                "On the fifth of May, the people of Brenn carry lanterns to the lake."
                " Their parents did so on that date, too."
            ),
            question="How often do the people of Brenn carry lanterns to the lake?",
            options=["every hour", "once a year", "annually", "each weekend"],
            reasoning=(
                "They do it on a certain date, and a date comes once a year. Annually"
                " means the same."
            ),
            answer="B, C",
        ),
        _sample(
            context=(
                "As soon as the dough had risen, Tilda slid the loaf into the hot oven."
                " She looked forward to a slice with butter."
            ),
            question="What happened after Tilda slid the loaf into the oven?",
            options=[
                "the dough was mixed",
                "she bought the flour for it",
                "the yeast was stirred in",
                "the bread baked",
            ],
            reasoning=(
                "Flour, yeast and mixing are needed before the dough can rise. In the"
                " oven the bread bakes."
            ),
            answer="D",
        ),
        _sample(
            context=(
                "The bakery in Lantern Street sells its first rolls while it is still"
                " dark. Workers buy them on their way to the early shift."
            ),
            question="When does the bakery sell its first rolls?",
            options=["5:00 AM", "5:30 in the morning", "at noon", "before sunrise"],
            reasoning=(
                "It is still dark and the early shift has not begun, so it is early in"
                " the morning and before sunrise. At noon it is light."
            ),
            answer="A, B, D",
        ),
    ]


def timedial() -> list[dict]:
    """Return documents of TimeDial, each with a worked answer."""
    return [
        _sample(
            context=(
                "Person1: Is the kettle on?\n"
                "Person2: Yes, I filled it and switched it on just now.\n"
                "Person1: Lovely. When can we have our tea?\n"
                "Person2: It is a slow little kettle. Give it <MASK>."
            ),
            options=["four minutes", "three weeks", "five minutes", "two years"],
            reasoning=(
                "A kettle takes a few minutes to boil. Four and five minutes fit, weeks"
                " and years do not."
            ),
            answer="A, C",
        ),
        _sample(
            context=(
                "Person1: The train to Dunvale leaves at 6:30 in the evening.\n"
                "Person2: Then let us be on the platform ten minutes early.\n"
                "Person1: Fine, I will meet you there at <MASK>."
            ),
            options=[
                "7:15 in the evening",
                "6:20 in the evening",
                "6:50 in the evening",
            ],
            reasoning="Ten minutes before 6:30 in the evening is 6:20 in the evening.",
            answer="B",
        ),
        _sample(
            context=(
                "Person1: So you are moving to Velmar for good?\n"
                "Person2: No, only until the new bridge is built.\n"
                "Person1: And how long will that take?\n"
                "Person2: At least two years, they say. My guess is <MASK>."
            ),
            options=[
                "about three years",
                "two and a half years",
                "ten minutes",
                "three to four years",
            ],
            reasoning=(
                "The guess is two years or longer. Ten minutes is less than that, the"
                " other three are more."
            ),
            answer="A, B, D",
        ),
    ]


def timeqa_explicit() -> list[dict]:
    """Return documents of TimeQA explicit, each with a worked answer."""
    return [
        _sample(
            context=(
                "Orsolya Venn (born 3 May 1931) is a painter from Kestrel Bay. She"
                " taught drawing at Marrowby College from 1958 to 1964. From 1964 to"
                " 1971 she was with the Thorne Institute. Since then she has run a"
                " gallery of her own."
            ),
            question="Which employer did Orsolya Venn work for from 1964 to 1971?",
            reasoning="The text says that she was there from 1964 to 1971.",
            answer="Thorne Institute",
        ),
        _sample(
            context=(
                "Tobin Rask is a retired goalkeeper. He played for Elmsworth Rovers"
                " from 1996 until his knee injury in 2001. He came back in 2006 with"
                " Port Garrow and ended his career there in 2009."
            ),
            question="Which team did Tobin Rask belong to from 2002 to 2005?",
            reasoning=(
                "He left Elmsworth Rovers in 2001 and came to Port Garrow in 2006. The"
                " text names no team for the years between."
            ),
            answer="unanswerable",
        ),
        _sample(
            context=(
                "Orrin has elected its mayors since the town was rebuilt. Agathe Lorn"
                " held the office from 1919 to 1922. She was followed by Casper Wyle,"
                " mayor from 1922 to 1928, and by Hedda Munt, mayor from 1928 to 1930."
            ),
            question="Who was the mayor of Orrin from 1922 to 1928?",
            reasoning="The text says that Casper Wyle was mayor in those years.",
            answer="Casper Wyle",
        ),
    ]


def timeqa_implicit() -> list[dict]:
    """Return documents of TimeQA implicit, each with a worked answer."""
    return [
        _sample(
            context=(
                "Ilse Corran sat on the council of Dunvale from 1979 to 1984. In"
                " October 1984 she became treasurer of the province. She gave up that"
                " office in 1990, when she was made an ambassador."
            ),
            question="What was the position of Ilse Corran in Mar 1987?",
            reasoning=(
                "Mar 1987 lies between October 1984 and 1990. In that time she was"
                " treasurer of the province."
            ),
            answer="treasurer of the province",
        ),
        _sample(
            context=(
                "Greta Halvers was a harpist. She married the conductor Piers Amdahl in"
                " 1961, and they were divorced in 1968. In 1977 she married Dov"
                " Kessary, a violin maker."
            ),
            question="Who was the spouse of Greta Halvers in Jul 1973?",
            reasoning=(
                "Her first marriage ended in 1968 and her second began in 1977. Jul"
                " 1973 lies between the two."
            ),
            answer="unanswerable",
        ),
        _sample(
            context=(
                "Anselm Pike left the village school of Orrin in 1950. He went to Saint"
                " Brannoc's Academy from 1950 to 1953 and then worked in a quarry."
                " From 1956 to 1960 he studied at the Velmar School of Mines."
            ),
            question="Which school did Anselm Pike go to in the late 1950s?",
            reasoning=(
                "The late 1950s are the years up to 1959. They lie in the time from"
                " 1956 to 1960, when he was at the school of mines."
            ),
            answer="Velmar School of Mines",
        ),
    ]


def menatqa_scope() -> list[dict]:
    """Return documents of MenatQA scope, each with a worked answer."""
    return [
        _sample(
            context=(
                "Linden Wanderers play in green and white. Abel Stroud coached the team"
                " from 1988 to 1995. Under Tess Okwu, coach from 1995 to 1998, the club"
                " won its only cup."
            ),
            question="Who coached the team Linden Wanderers from 1990 to 1992?",
            reasoning="1990 to 1992 is within 1988 to 1995, the years of Abel Stroud.",
            answer="Abel Stroud",
        ),
        _sample(
            context=(
                "Runa Oske wrote four novels about the sea. From 1915 to 1919 she lived"
                " in Tolbrook. It is not known where she lived before and after."
            ),
            question="What was the residence of Runa Oske from 1908 to 1925?",
            reasoning=(
                "The text knows of a residence from 1915 to 1919 only. It names none"
                " for all the years from 1908 to 1925."
            ),
            answer="unanswerable",
        ),
        _sample(
            context=(
                "Sefton Arle began as a surveyor. From 1866 to 1872 he was harbour"
                " master of Garrow. From 1873 to 1879 he served as chief engineer of"
                " the Corrin Canal."
            ),
            question="What position did Sefton Arle take from June 1874 to May 1878?",
            reasoning=(
                "June 1874 to May 1878 lies within 1873 to 1879. In those years he was"
                " chief engineer of the canal."
            ),
            answer="chief engineer of the Corrin Canal",
        ),
    ]


def menatqa_order() -> list[dict]:
    """Return documents of MenatQA order, each with a worked answer."""
    return [
        _sample(
            context=(
                "From 1992 to 1999 Calla Duvray worked for the Meridian Observatory."
                " She had begun at the Kell Institute, from 1985 to 1988. Between the"
                " two, from 1988 to 1992, the Board of Tides employed her."
            ),
            question="Which employer did Calla Duvray work for from 1989 to 1991?",
            reasoning=(
                "In order, she was at the Kell Institute until 1988, at the Board of"
                " Tides until 1992 and at the observatory until 1999. 1989 to 1991 lies"
                " within the second of these."
            ),
            answer="Board of Tides",
        ),
        _sample(
            context=(
                "Jory Blane spent his last seasons, from 2012 to 2015, with Port"
                " Garrow. He was born in Orrin in 1984. He played for Elmsworth Rovers"
                " from 2002 to 2007, and for Dunvale United from 2007 to 2012."
            ),
            question="Which team did Jory Blane play for from 2013 to 2014?",
            reasoning=(
                "In order, he played for Elmsworth Rovers, Dunvale United and, from"
                " 2012 to 2015, Port Garrow. 2013 to 2014 lies within the last of"
                " these."
            ),
            answer="Port Garrow",
        ),
        _sample(
            context=(
                "Since 1981 Nadia Thorsby has been married to Emil Vance. Her first"
                " marriage, to Luke Harrod, lasted from 1963 to 1970. Before it she was"
                " engaged to a sailor."
            ),
            question="Who was the spouse of Nadia Thorsby from 1973 to 1977?",
            reasoning=(
                "In order, she was married from 1963 to 1970 and from 1981 on. The"
                " years from 1973 to 1977 lie between the two marriages."
            ),
            answer="unanswerable",
        ),
    ]


def menatqa_counterfactual() -> list[dict]:
    """Return documents of MenatQA counterfactual, each with a worked answer."""
    return [
        _sample(
            context=(
                "Mirela Stoss directed the Tolbrook Museum from 1979 to 1987. Ade"
                " Fenwood took over from her in 1987. He remained its director until"
                " 1994."
            ),
            question=(
                "Who was the director of the Tolbrook Museum from 1985 to 1990, if Ade"
                " Fenwood became its director in 1984?"
            ),
            reasoning=(
                "If Ade Fenwood began in 1984 and remained until 1994, his time covers"
                " 1985 to 1990."
            ),
            answer="Ade Fenwood",
        ),
        _sample(
            context=(
                "Hale Dorrin went to sea at fourteen. He was harbour master of Garrow"
                " from 1955 to 1965. Then he retired to his farm."
            ),
            question=(
                "What position did Hale Dorrin take from 1961 to 1964, if he was"
                " harbour master of Garrow only until 1960?"
            ),
            reasoning=(
                "If he was harbour master only until 1960, he no longer was from 1961"
                " on. The text names no other position for 1961 to 1964."
            ),
            answer="unanswerable",
        ),
        _sample(
            context=(
                "Benedikta Sool was a botanist. She lived in Marnby from 1899 to 1906."
                " Then she moved to Velmar, where she died in 1920."
            ),
            question=(
                "What was the residence of Benedikta Sool from 1907 to 1910, if she"
                " moved from Marnby to Velmar in 1911?"
            ),
            reasoning=(
                "If she moved in 1911, she lived in Marnby from 1899 to 1911. 1907 to"
                " 1910 lies within these years."
            ),
            answer="Marnby",
        ),
    ]


def tempreason_l2() -> list[dict]:
    """Return documents of TempReason l2, each with a worked answer."""
    return [
        _sample(
            context=(
                "Viggo Tams is a chemist. After his studies he spent the years from"
                " 1984 to 1990 at Brenn University. In January 1990 he joined Halcyon"
                " Dyes, and in March 1995 the Orrin Water Board, where he stayed until"
                " 2003."
            ),
            fact_context=(
                "Viggo Tams worked for Halcyon Dyes from Jan, 1990 to Mar, 1995.\n"
                "Viggo Tams worked for Brenn University from Jan, 1984 to Jan, 1990.\n"
                "Viggo Tams worked for Orrin Water Board from Mar, 1995 to Jan, 2003."
            ),
            question="Which employer did Viggo Tams work for in Aug, 1992?",
            reasoning=(
                "Aug, 1992 lies between January 1990, when he joined Halcyon Dyes, and"
                " March 1995, when he left for the water board."
            ),
            answer="Halcyon Dyes",
        ),
        _sample(
            context=(
                "Carys Imber is a midfielder from Dunvale. She played for Linden"
                " Wanderers from 2005 to 2009. In 2009 she moved to Kestrel Bay, and in"
                " 2014 to Port Garrow, her last club, where she played until 2016."
            ),
            fact_context=(
                "Carys Imber played for Port Garrow from Jan, 2014 to Jan, 2016.\n"
                "Carys Imber played for Linden Wanderers from Jan, 2005 to Jan, 2009.\n"
                "Carys Imber played for Kestrel Bay from Jan, 2009 to Jan, 2014."
            ),
            question="Which team did Carys Imber play for in Apr, 2007?",
            reasoning=(
                "Apr, 2007 lies between 2005 and 2009, when she played for Linden"
                " Wanderers."
            ),
            answer="Linden Wanderers",
        ),
        _sample(
            context=(
                "The Lantern Society was founded in 1948. Its first chair was Rosalind"
                " Ekker. She handed over to Bram Solveig in May 1956, and he to Ottilie"
                " Farr in June 1969. Farr led the society until it closed in 1975."
            ),
            fact_context=(
                "Bram Solveig was the chair of Lantern Society from May, 1956 to Jun,"
                " 1969.\n"
                "Ottilie Farr was the chair of Lantern Society from Jun, 1969 to Jan,"
                " 1975.\n"
                "Rosalind Ekker was the chair of Lantern Society from Jan, 1948 to May,"
                " 1956."
            ),
            question="Who was the chair of Lantern Society in Oct, 1971?",
            reasoning=(
                "Oct, 1971 lies after June 1969, when Ottilie Farr took over, and"
                " before 1975, when the society closed."
            ),
            answer="Ottilie Farr",
        ),
    ]


def tempreason_l3() -> list[dict]:
    """Return documents of TempReason l3, each with a worked answer."""
    return [
        _sample(
            context=(
                "Leopold Quay is a geologist. He was at the Kell Institute from 1971 to"
                " 1978 and at Marrowby College from 1978 to 1985. From 1985 until 1993"
                " he worked for Ulmar Mining."
            ),
            fact_context=(
                "Leopold Quay worked for Ulmar Mining from Jan, 1985 to Jan, 1993.\n"
                "Leopold Quay worked for Kell Institute from Jan, 1971 to Jan, 1978.\n"
                "Leopold Quay worked for Marrowby College from Jan, 1978 to Jan, 1985."
            ),
            question="Which employer did Leopold Quay work for before Ulmar Mining?",
            reasoning=(
                "He came to Ulmar Mining in 1985. The job that ended in 1985 was the"
                " one at Marrowby College."
            ),
            answer="Marrowby College",
        ),
        _sample(
            context=(
                "Sunniva Parr entered politics late. She was mayor of Tolbrook from"
                " 1998 to 2004, Minister of Fisheries from 2004 to 2007 and, from 2007"
                " to 2011, Speaker of the Assembly."
            ),
            fact_context=(
                "Sunniva Parr held the position of Minister of Fisheries from Jan, 2004"
                " to Jan, 2007.\n"
                "Sunniva Parr held the position of Speaker of the Assembly from Jan,"
                " 2007 to Jan, 2011.\n"
                "Sunniva Parr held the position of mayor of Tolbrook from Jan, 1998 to"
                " Jan, 2004."
            ),
            question="Which position did Sunniva Parr hold after mayor of Tolbrook?",
            reasoning=(
                "She was mayor until 2004. The position that began in 2004 was Minister"
                " of Fisheries."
            ),
            answer="Minister of Fisheries",
        ),
        _sample(
            context=(
                "Mattis Oruk is a retired striker. He scored 12 goals for Kestrel Bay"
                " between 1990 and 1994. He was with Dunvale United until 1997 and with"
                " Elmsworth Rovers from then until 2001."
            ),
            fact_context=(
                "Mattis Oruk played for Elmsworth Rovers from Jan, 1997 to Jan, 2001.\n"
                "Mattis Oruk played for Dunvale United from Jan, 1994 to Jan, 1997.\n"
                "Mattis Oruk played for Kestrel Bay from Jan, 1990 to Jan, 1994."
            ),
            question="Which team did Mattis Oruk play for after Dunvale United?",
            reasoning=(
                "He was with Dunvale United until 1997 and with Elmsworth Rovers from"
                " 1997 on."
            ),
            answer="Elmsworth Rovers",
        ),
    ]


def situatedgen() -> list[dict]:
    """Return documents of SituatedGen, each with a worked answer."""
    return [
        _sample(
            keywords=["seeds", "night", "bats", "sparrows", "day", "insects"],
            reasoning=(
                "Bats, insects and night belong together, and so do sparrows, seeds and"
                " day. The sentences contrast night and day."
            ),
            answer="Many bats hunt insects at night. Most sparrows eat seeds by day.",
        ),
        _sample(
            keywords=[
                "sensors",
                "gas lamps",
                "the 19th century",
                "streetlights",
                "lamplighters",
                "today",
                "by hand",
            ],
            reasoning=(
                "Lamplighters and gas lamps, lit by hand, belong to the 19th century."
                " Streetlights and sensors belong to today."
            ),
            answer=(
                "In the 19th century, lamplighters lit the gas lamps by hand. The"
                " streetlights of today are often switched on by sensors."
            ),
        ),
        _sample(
            keywords=["reindeer", "sand", "the far north", "camels", "desert", "snow"],
            reasoning=(
                "Camels walk on sand in the desert, and reindeer walk on snow in the"
                " far north. The sentences contrast the two places."
            ),
            answer=(
                "In the hot desert, camels carry loads across the sand. In the far"
                " north, reindeer pull sleds over the snow."
            ),
        ),
    ]
