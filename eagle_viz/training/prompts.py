"""Prompts for the training corpus: templates filled from word lists, drawn by a seed."""

import random
import string
from collections.abc import Sequence

from eagle_viz.training.subjects import FORMS, SUBJECTS

TEMPLATES = {
    "writing": [
        "Write a short story about {topic} that begins in {place}.",
        "Write a blog post about {topic} for {audience}.",
        "Describe {place} in the early morning so that a reader can hear and smell it.",
        "Write the opening paragraph of a novel in which {person} discovers something about {topic}.",
        "Write a product description for {thing} aimed at {audience}.",
        "Write a newspaper article about {topic} in {place}.",
        "Write a review of a book about {topic}.",
        "Outline a short speech on {topic} to be given by {person}.",
        "Give three different headlines and a first paragraph for an article on {topic}.",
        "Rewrite the following sentence in a friendlier tone: '{person} said that {thing} must be returned by Friday.'",
    ],
    "explanation": [
        "Explain {topic} to {audience}.",
        "What is {topic}, and why does it matter?",
        "How does {thing} work?",
        "What are the main causes and effects of {topic}?",
        "Compare {topic} with {topic2}. Where do they differ?",
        "What do people often misunderstand about {topic}?",
        "Give a short history of {topic}.",
        "What are the advantages and disadvantages of {thing} compared with {thing2}?",
        "Explain step by step how {topic} influences everyday life in {place}.",
        "Which methods are used to study {topic}, and what are their limits?",
    ],
    "roleplay": [
        "You are {person}. Tell me about your day in {place}.",
        "Pretend to be {person} and answer: what do you think about {topic}?",
        "Act as a museum guide in {place} and introduce a room about {topic}.",
        "Play a job interviewer and ask {person} five questions about {topic}, with short example answers.",
        "Imagine you are {thing}. Describe the world from where you stand.",
        "Speak as a patient teacher. A pupil asks you: 'I do not understand {topic}. Can you help?'",
        "Write a dialogue between {person} and {person2} who disagree about {topic}.",
    ],
    "extraction": [
        "List all names, places and numbers in this text as JSON: '{name} bought {n} crates of {food} in {city} and sold "
        "{m} of them to {name2} for {k} euros.'",
        "Summarise in one sentence: '{name}, who studied {topic} in {city} for {n} years, has now opened a shop for {food} "
        "and hopes to serve {m} customers a day.'",
        "Which of these is not like the others, and why: {food}, {food2}, {thing}, {food3}?",
        "Sort these words into groups and name each group: {food}, {city}, {thing}, {food2}, {city2}, {thing2}.",
        "Turn these notes into a table: {city} {n} degrees, {city2} {m} degrees, {city3} {k} degrees.",
        "Classify the mood of each message as positive, negative or neutral: '{thing} broke after {n} days.' "
        "'I love the {food} here.' 'The parcel from {city} arrived.'",
        "Extract the dates and the events from this note: 'On {day} {name} visits {city}; on {day2} we test {thing}.'",
    ],
    "reasoning": [
        "{name} is taller than {name2}, and {name2} is taller than {name3}. Who is the shortest? Explain your reasoning.",
        "If it takes {n} workers {m} hours to build a wall, how long do {k} workers need? Show your steps.",
        "{name} has {n} brothers and each brother has {m} sisters. How many sisters does {name} have? Think step by step.",
        "Every {thing} in the room is blue. This object is not blue. What can you conclude, and what can you not?",
        "A train leaves {city} at {n} o'clock and arrives {m} hours later in {city2}. What time is it then?",
        "Give arguments for and against: '{topic} should be taught in every school.'",
        "What would happen if {thing} disappeared tomorrow? Reason through the consequences one by one.",
        "{name} says that {name2} lies. {name2} says that {name3} lies. {name3} says both lie. Who can be telling the truth?",
        "Should a small town in {place} spend its budget on {topic} or on {topic2}? Decide and justify.",
    ],
    "mathematics": [
        "What is {n} times {m} plus {k}? Show the calculation.",
        "Solve for x: {n}x + {m} = {k}.",
        "A rectangle has sides of {n} cm and {m} cm. Find its area and perimeter.",
        "{name} buys {n} boxes of {food} at {m} dollars each and pays with a {k}00 dollar note. How much change is due?",
        "What is the probability of drawing a red ball from a bag with {n} red and {m} blue balls? Explain.",
        "Find the average of {n}, {m} and {k}, and explain what an average is.",
        "Simplify the fraction {n}/{m} or explain why it cannot be simplified.",
        "The price of {thing} rises by {n} percent and then falls by {n} percent. Is it the same as before? Calculate.",
        "Find the derivative of f(x) = {n}x^2 + {m}x + {k} and explain each step.",
        "How many seconds are there in {n} hours and {m} minutes?",
    ],
    "code": [
        "Write a {language} function that {task}.",
        "Write a {language} program that {task}, and explain how it works.",
        "How do I {chore} in {language}? Give an example.",
        "Write unit tests in {language} for a function that {task}.",
        "What is the time complexity of a function that {task}? Show an implementation in {language}.",
        "Explain the difference between a list and a {structure} in {language}.",
        "Implement a {structure} in {language}.",
        "Translate a function that {task} from {language} to {language2}.",
        "Write an SQL query that finds the {n} customers in {city} who bought the most {food}.",
        "Write an HTML page with a form that asks for a name, a city and a favourite {food}.",
        "My {language} program that {task} is slow. What could be the reason and how do I find out?",
    ],
    "letters": [
        "Write a polite email to {person} asking for help with {thing}.",
        "Write a letter of complaint about {thing} that arrived broken.",
        "Write an invitation to a party about {topic} in {city} on {day}.",
        "Write a thank-you note to {name} for a present: {thing}.",
        "Write a cover letter for a job as {person}.",
        "Write an email to all staff announcing that {thing} will be replaced on {day}.",
        "Write a short message to {name} to move our meeting from {day} to {day2}.",
        "Draft a letter from a landlord to {name} about {thing} in the kitchen.",
    ],
    "contracts": [
        "Draft a simple rental agreement for {thing} between {name} and {name2} for {n} months.",
        "Write the terms of use for a website about {topic}.",
        "Draft a clause that says who pays if {thing} is damaged.",
        "Write a short non-disclosure agreement between {name} and a company in {city}.",
        "Explain in plain words what a service contract for {thing} should contain.",
        "Draft a contract for the delivery of {n} boxes of {food} to {city} every {day}.",
    ],
    "verse": [
        "Write a poem about {topic} in four lines.",
        "Write a haiku about {thing}.",
        "Write a song about {place} with a chorus.",
        "Write a limerick about {person} and {food}.",
        "Write a rhyming poem in which {thing} and {thing2} become friends.",
        "Write a lullaby about {topic}.",
    ],
    "lists": [
        "List {n} facts about {topic}.",
        "Give me a shopping list and a recipe with {food} and {food2}.",
        "List the steps to repair {thing}.",
        "Give {n} tips for {audience} who want to learn about {topic}.",
        "Plan a three day trip to {city}.",
        "Make a weekly schedule for {person} who wants to study {topic}.",
        "What are {n} things to check before buying {thing}?",
        "Give ten names for a shop that sells {food} in {city}.",
        "List the pros and cons of living in {place}.",
        "Suggest {n} questions for a quiz about {topic}, with answers.",
    ],
} | FORMS

WORDS = {
    "subject": SUBJECTS,
    "topic": "photosynthesis|gravity|inflation|the water cycle|machine learning|the French Revolution|vaccines|black holes|"
    "democracy|volcanoes|friendship|supply and demand|the immune system|renewable energy|music theory|evolution|plate tectonics|"
    "the printing press|sleep|climate change|jazz|the stock market|recycling|the Roman Empire|quantum mechanics|loneliness|"
    "chess|antibiotics|the human heart|electric cars|artificial intelligence|urban gardening|poverty|coral reefs|genetics|"
    "the moon landing|migration of birds|philosophy|stress|bread baking|public transport|the ocean|honesty|encryption|"
    "ancient Egypt|probability|nutrition|space travel|the internet|memory|glaciers|trade|earthquakes|time management|rivers|"
    "the Renaissance|courage|electricity|taxes|bees|opera|statistics|first aid|the Silk Road|wind power|language learning|"
    "dinosaurs|the nervous system|photography|insurance|kindness|the periodic table|film making|forests|robots|human rights|"
    "the Industrial Revolution|cooking|astronomy|teamwork|mental health|architecture|the seasons|data privacy|football|"
    "entropy|marketing|ethics|the solar system|bicycles|democratic elections|chemistry|mountain climbing|fashion|money|"
    "agriculture|the Cold War|light and colour|education|dreams|sound waves|bridges|water pollution|the brain|tea|leadership",
    "place": "a fishing village|the desert|a mountain hut|New York|a small library|the Amazon rain forest|an old castle|Tokyo|"
    "a train station|the Arctic|a crowded market|Cairo|a space station|a farm in Kansas|Paris|a hospital|the seaside|"
    "an abandoned factory|Mumbai|a school yard|a lighthouse|Kenya|a vineyard|the suburbs|an island|Berlin|a bakery|Peru",
    "person": "a retired sailor|a nurse|a young programmer|a medieval knight|a chef|a detective|an astronaut|a farmer|a librarian|"
    "a violinist|a bus driver|a physicist|a lawyer|a gardener|a football coach|a painter|a shopkeeper|a pilot|a student|a judge|"
    "a carpenter|a poet|a biologist|a sales manager|a pirate|a grandmother|an engineer|a fire fighter|a translator|a tailor",
    "thing": "a washing machine|a bicycle|a telescope|an umbrella|a laptop|a solar panel|a clock|a camera|a violin|a refrigerator|"
    "a compass|a microscope|a car engine|a lamp|a smartphone|a chair|a sewing machine|a mirror|a kettle|a printer|a backpack|"
    "a thermometer|a boat|a typewriter|a radio|a water pump|a battery|a drone|a coffee machine|a pair of glasses|a ladder|a tent",
    "food": "apples|rice|cheese|tomatoes|bread|honey|coffee|beans|oranges|noodles|chocolate|potatoes|salmon|lentils|mushrooms|"
    "yoghurt|carrots|pepper|olives|eggs|spinach|strawberries|walnuts|ginger|pumpkins|tea|oats|garlic|lemons|chicken",
    "city": "Lisbon|Boston|Nairobi|Kyoto|Oslo|Lima|Toronto|Rome|Delhi|Sydney|Vienna|Chicago|Seoul|Prague|Cape Town|Dublin|Havana|"
    "Madrid|Istanbul|Bangkok|Denver|Athens|Warsaw|Hanoi|Zurich|Montreal|Lagos|Helsinki|Quito|Glasgow",
    "name": "Anna|Tom|Maria|James|Fatima|David|Yuki|Carlos|Emma|Ravi|Olga|Peter|Grace|Ahmed|Sophie|Daniel|Lin|Julia|Samuel|Nina|"
    "Marco|Sarah|Ivan|Aisha|Robert|Clara|Kofi|Helen|Diego|Mei",
    "audience": "a ten-year-old|beginners|busy parents|university students|retired people|engineers|teachers|young readers|"
    "tourists|small business owners|a curious friend|new employees",
    "language": "Python|JavaScript|C++|Java|Rust|Go|C|Ruby|TypeScript|Haskell|Bash|Kotlin|PHP",
    "structure": "stack|queue|hash map|binary search tree|linked list|set|heap|graph|tuple|trie|ring buffer",
    "task": "reverses a string|sorts a list of numbers|counts the words in a text file|finds the largest number in a list|"
    "checks whether a word is a palindrome|computes factorials|merges two sorted lists|removes duplicates from a list|"
    "reads a CSV file and prints the average of a column|finds all prime numbers below n|converts Celsius to Fahrenheit|"
    "searches a sorted array|prints the first n squares|counts vowels|validates an email address|rotates a matrix|"
    "computes the greatest common divisor|flattens a nested list|finds the shortest path in a grid|"
    "draws a triangle of stars|parses a date|groups words by their first letter|simulates rolling two dice|"
    "downloads a web page|evaluates a simple arithmetic expression|converts a number to binary|shuffles a deck of cards",
    "chore": "read a file line by line|handle errors|write a class|loop over a dictionary|format a date|sort objects by a field|"
    "send an HTTP request|parse JSON|write a unit test|split a string|use a regular expression|start a thread|"
    "read command-line arguments|round a number|copy a list",
    "day": "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|3 March|the 14th of June|1 September|12 December",
    "n": "|".join(str(i) for i in range(3, 13)),
    "m": "|".join(str(i) for i in range(4, 40)),
    "k": "|".join(str(i) for i in range(2, 90)),
}


def _fill(template: str, rng: random.Random) -> str:
    values: dict[str, str] = {}
    for _, field, _, _ in string.Formatter().parse(template):
        if field is not None and field not in values:
            words = WORDS[field.rstrip("23")].split("|")
            values[field] = rng.choice([w for w in words if w not in values.values()])
    return template.format(**values)


def draw_prompts(count: int, seed: int, kinds: Sequence[str] = ()) -> list[str]:
    """`count` different prompts of these kinds (of all, if none is named), equally often; the same seed gives the same list.

    >>> draw_prompts(1, seed=0) == draw_prompts(1, seed=0)
    True
    """
    rng, kinds, drawn = random.Random(seed), list(kinds or TEMPLATES), {}
    for attempt in range(count * 50):
        if len(drawn) == count:
            return list(drawn)
        drawn.setdefault(_fill(rng.choice(TEMPLATES[kinds[attempt % len(kinds)]]), rng))
    raise ValueError(f"count must be small enough for the templates to give different prompts, got {count}")
