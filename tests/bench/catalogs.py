"""Catalogs of any size with text like real tool lists: made from a seed, the same every time."""

import json
import random

_THINGS = {
    "weather": "forecast storm rainfall humidity temperature wind snow alert satellite tide",
    "finance": "stock portfolio dividend invoice ledger budget tax currency loan mortgage",
    "travel": "flight hotel itinerary visa train booking luggage airport cruise hostel",
    "food": "recipe ingredient restaurant menu calorie allergy grocery wine meal pantry",
    "health": "symptom medication workout sleep heartbeat clinic vaccine nutrition therapy dosage",
    "music": "song playlist chord lyrics album concert podcast melody drum remix",
    "code": "repository commit branch pipeline linter dependency container traceback release snippet",
    "data": "dataset spreadsheet query chart dashboard column schema histogram outlier table",
    "law": "contract clause statute patent trademark verdict filing lawsuit compliance license",
    "media": "photo video subtitle thumbnail caption filter animation transcript watermark frame",
    "school": "course quiz flashcard essay lecture homework syllabus tutor exam grade",
    "shop": "product discount coupon parcel refund warehouse barcode supplier cart receipt",
    "home": "rent apartment thermostat furniture garden plumbing appliance mortgage tenant lightbulb",
    "work": "resume interview meeting calendar timesheet payroll candidate agenda salary onboarding",
    "mail": "inbox newsletter attachment contact signature spam draft campaign reminder notification",
    "games": "puzzle chess dice quest leaderboard sudoku card crossword character tournament",
    "maps": "route street parking distance landmark traffic elevation address ferry trail",
    "science": "paper citation protein telescope molecule experiment equation earthquake fossil genome",
    "web": "domain sitemap keyword backlink certificate crawler header redirect uptime screenshot",
    "news": "headline article interview rumour editorial archive briefing journalist election poll",
}
_DO = (
    "find search compare translate summarise track convert export schedule analyse generate validate monitor import "
    "merge recommend estimate archive publish classify extract visualise annotate forecast book order rank"
).split()
_FOR = (
    "small teams|students|travellers|any region of Europe|two or more providers at once|the last thirty days|"
    "beginners|nonprofits|remote workers|large files|mobile devices|a given city|several languages|busy parents|"
    "researchers|local businesses|developers|freelancers|a chosen date range|households"
).split("|")
_FRAMES = (
    "{Do} {a} and {b} for {who}, with results from {vendor}.",
    "Use {vendor} to {do} any {a}; also handles {b} and {c} for {who}.",
    "{vendor} helps {who} {do} {a} data, including {b}, {c} and history.",
    "Quickly {do} your {a}. Supports {b}, {c}, and {who}.",
    "An assistant that can {do} {a} or {b}, and explains every {c} it finds for {who}.",
)
_ASKS = (
    "can you {do} the {a} and {b} for {who}",
    "i need to {do} a {a} with its {c}",
    "{do} {a} {b}",
    "what is the best way to {do} my {b} and {a} for {who}?",
)
_HEADS = "bra clo dex fin glo hel jun kra lum mor nim orb pix qua rav sol tri ux vel wex yon zen".split()
_TAILS = "ato bit do fy gen hub io kit lo mix nest on pad rio sy tic va wave zo".split()


def cards(count, seed=7):
    """`count` distinct cards: name, description, group, and the words that a query about it would use."""
    draw = random.Random(f"{seed}/{count}")
    names, found = set(), []
    while len(found) < count:
        area = draw.choice(list(_THINGS))
        a, b, c = draw.sample(_THINGS[area].split(), 3)
        vendor = (draw.choice(_HEADS) + draw.choice(_HEADS)[:2] + draw.choice(_TAILS)).capitalize()
        do, who = draw.choice(_DO), draw.choice(_FOR)
        name = f"{do}_{a}_{vendor.lower()}"
        if name in names:
            continue
        names.add(name)
        words = {"do": do, "a": a, "b": b, "c": c, "who": who, "vendor": vendor, "Do": do.capitalize()}
        found.append({"name": name, "description": draw.choice(_FRAMES).format(**words), "words": words, "area": area})
    return found


def questions(found, count, seed=11):
    """(query, name of the card it was made from), `count` of them."""
    draw = random.Random(seed)
    picked = [draw.choice(found) for _ in range(count)]
    return [(draw.choice(_ASKS).format(**card["words"]), card["name"]) for card in picked]


def write_jsonl(path, found):
    """The cards as the importer reads them."""
    rows = ({"name": c["name"], "description": c["description"]} for c in found)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path
