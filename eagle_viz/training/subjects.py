"""Subjects and question forms of the later half of the corpus: many fields, many ways to ask.

A head agrees with its target less on subjects that its corpus never touched, so breadth counts for more than length. No form
is a benchmark's question in other words.
"""

SUBJECTS = (
    # nature and its laws
    "Newton's laws of motion|the Doppler effect|superconductors|nuclear fusion|radioactive decay|thermodynamics|magnetism|"
    "general relativity|the photoelectric effect|semiconductors|lasers|the Higgs boson|surface tension|friction|optics|"
    "acids and bases|chemical bonds|catalysts|oxidation and reduction|polymers|the carbon cycle|crystals|isotopes|alloys|"
    "the Krebs cycle|mitosis and meiosis|DNA replication|protein folding|enzymes|natural selection|symbiosis|food chains|"
    "the endocrine system|the digestive system|blood types|viruses and bacteria|antibiotic resistance|stem cells|CRISPR|"
    "hibernation|echolocation|pollination|invasive species|biodiversity|wetlands|soil erosion|ocean currents|monsoons|"
    "tornadoes|the ozone layer|permafrost|tides|fossils|the rock cycle|geothermal energy|exoplanets|neutron stars|"
    "the Big Bang|dark matter|comets|galaxies|solar flares|the life cycle of a star|the International Space Station|"
    # mathematics and computing
    "prime numbers|the Pythagorean theorem|calculus|matrices|complex numbers|graph theory|Bayes' theorem|the normal distribution|"
    "linear regression|hypothesis testing|game theory|set theory|logarithms|fractals|the golden ratio|induction proofs|"
    "neural networks|decision trees|reinforcement learning|overfitting|operating systems|compilers|databases|SQL joins|"
    "hash tables|recursion|dynamic programming|garbage collection|version control|unit testing|cloud computing|blockchain|"
    "public key cryptography|the TCP/IP protocol|web browsers|search engines|concurrency|caching|microservices|REST APIs|"
    "computer viruses|open source software|agile development|quantum computing|computer graphics|speech recognition|"
    # health and mind
    "diabetes|high blood pressure|asthma|vaccination campaigns|healthy eating|vitamin D|dehydration|concussions|allergies|"
    "depression|anxiety|attention|cognitive biases|motivation|habits|child development|personality|grief|empathy|memory loss|"
    "exercise|back pain|sleep disorders|meditation|ageing|public health|epidemics|nursing|physical therapy|dental care|"
    # history
    "the American Civil War|World War I|World War II|the Great Depression|the Black Death|the Mongol Empire|the Ottoman Empire|"
    "the Aztecs|the Inca road system|the Viking Age|the Crusades|the Magna Carta|the Enlightenment|the Reformation|colonialism|"
    "the slave trade|the Russian Revolution|the fall of the Berlin Wall|apartheid|the civil rights movement|women's suffrage|"
    "the Meiji Restoration|the Opium Wars|the partition of India|the Marshall Plan|the Cuban Missile Crisis|the space race|"
    "the Dust Bowl|the Gold Rush|the Spanish Armada|ancient Greece|the Han dynasty|Mesopotamia|the Phoenicians|the Maya calendar|"
    "the Library of Alexandria|the plague of Athens|feudalism|the Hanseatic League|the Suez Canal|the Panama Canal|"
    # economy, law, politics, society
    "monetary policy|interest rates|unemployment|gross domestic product|monopolies|tariffs|free trade|"
    "income inequality|minimum wage|pension funds|bonds and shares|venture capital|bankruptcy|supply chains|brand loyalty|"
    "market research|pricing strategy|customer service|project management|negotiation|corporate governance|accounting|audits|"
    "copyright|patents|contract law|criminal justice|juries|constitutional rights|freedom of speech|privacy law|immigration|"
    "the United Nations|the European Union|federalism|checks and balances|voting systems|lobbying|propaganda|social media|"
    "urbanisation|housing policy|school reform|universal basic income|healthcare systems|homelessness|population growth|"
    "gender equality|labour unions|remote work|tourism|disaster relief|food security|refugees|philanthropy|consumer protection|"
    # arts and thought
    "Shakespeare's tragedies|Greek mythology|epic poetry|the sonnet|magical realism|science fiction|fairy tales|satire|"
    "impressionism|cubism|Gothic cathedrals|the Bauhaus|Japanese woodblock prints|street art|sculpture|perspective in painting|"
    "classical music|the blues|hip hop|opera|folk songs|ballet|theatre|silent film|documentaries|animation|video games|"
    "Stoicism|existentialism|utilitarianism|Plato's cave|free will|Confucianism|Buddhism|social contract theory|logic|rhetoric|"
    "Latin|sign language|the alphabet|translation|dialects|slang|typography|journalism|calligraphy|museums|oral history|"
    # making and living
    "bridges and tunnels|steel making|concrete|the steam engine|jet engines|hybrid cars|high-speed trains|airports|"
    "shipping containers|"
    "3D printing|textile dyes|glass blowing|pottery|carpentry|beekeeping|composting|hydroponics|irrigation|crop rotation|"
    "fermentation|cheese making|chocolate|coffee growing|sushi|spices|wine|vegetarian cooking|street food|baking|camping|"
    "marathon running|yoga|swimming|basketball|cricket|chess openings|sailing|rock climbing|gardening|knitting|birdwatching|"
    "budgeting|saving for retirement|buying a house|job interviews|public speaking|writing a resume|study habits|note taking|"
    "parenting|pets|home repair|moving abroad|volunteering|travel on a small budget|fire safety|cybersecurity|online dating"
)

FORMS = {
    "knowledge": [
        "Why should anyone outside the field care about {subject}?",
        "Which beliefs about {subject} have proved right, and which wrong?",
        "What is {subject}? Explain the main idea and give two examples.",
        "Explain {subject} in simple terms and say why it is important today.",
        "Describe the key ideas behind {subject} and how they are related to {subject2}.",
        "What led to {subject}, who was involved, and what came of it?",
        "How did our understanding of {subject} change over time?",
        "What are three common myths about {subject}? Correct each of them.",
        "What are the most important terms one needs to know to talk about {subject}? Define each.",
        "How is {subject} measured or studied? Name the tools and their limits.",
        "Give an overview of {subject} for a textbook, with headings.",
        "What problems does {subject} solve, and which new problems does it create?",
        "Describe {subject} in one paragraph for an encyclopedia.",
        "Explain the process of {subject} step by step.",
        "Who contributed most to {subject}, and what did they do?",
        "What would you teach in a five lesson course on {subject}? Give goals for each lesson.",
        "What are the arguments of those who are for and those who are against {subject}?",
        "Which factors influence {subject}? Rank them and explain your ranking.",
        "Explain {subject} with an analogy from daily life.",
        "How does {subject} affect the economy of a country?",
        "What happens in the body, in nature or in a machine when {subject} comes into play?",
        "What is the difference between {subject} and {subject2}?",
        "Name five books, films or works about {subject} and say what each is about.",
        "What questions about {subject} are still open?",
    ],
    "tasks": [
        "Write a column for a local paper: what {subject} has to do with life in {place}.",
        "Write a message to {person} that makes them curious about {subject}.",
        "Tell a story for the campfire in which {subject} plays a part.",
        "Write a {language} function that {task}; then say what could go wrong with it.",
        "What does {language} offer that helps when a program {task}? Show a short example.",
        "Factor the number {k}{m} and say whether it is prime.",
        "{name} saves {m} euros a month. After how many months are there more than {k}0 euros? Show the steps.",
        "Write a descriptive paragraph about {place} that mentions {subject}.",
        "Write an opinion piece on {subject} that ends with a question.",
        "Create a lesson plan about {subject} for {audience}.",
        "Write a script for a two minute video on {subject}.",
        "Suggest five titles for an essay on {subject} and outline the best one.",
        "Write a dialogue in which {name} explains {subject} to {name2}.",
        "Pretend that you are an expert on {subject} and answer the questions of {audience}.",
        "Take the role of {person} and explain {subject} in your own way of speaking.",
        "Imagine a debate on {subject} between {person} and {person2}. Write the opening statements.",
        "You are an interviewer. Write three questions about {subject} and the answers a good candidate would give.",
        "Write a poem about {subject} with an image from {place}.",
        "Write a fictional diary entry of {person} about {subject}.",
        "Summarise what {audience} should know about {subject} in three bullet points.",
        "Write a frequently asked questions page about {subject} with four questions.",
        "Make a table that compares {subject} with {subject2} by cost, difficulty and use.",
        "Read this and answer: '{name} gave a talk about {subject} in {city} on {day}; {n} people came and {m} asked for more.' "
        "Who spoke, where, and how many came?",
        "Give counterarguments to this claim: '{subject} matters more than {subject2}.'",
        "Suppose that {subject} had never existed. How would life in {city} differ?",
        "{name} is faster than {name2} but slower than {name3}. {name2} started first. Who might win, and what is missing to know?",
        "A shop in {city} sells {thing} for {m} dollars. {name} has a coupon of {n} percent and buys two. What does {name} pay?",
        "The sum of two numbers is {k} and their difference is {n}. Find the numbers and check the result.",
        "{name} drove {k} kilometres in {n} hours and {m} kilometres in the next hour. What was the average speed?",
        "How many different ways are there to choose {n} books from {m}? Explain the formula.",
        "Write a {language} program that {task}. Then test it with three inputs.",
        "Write a {language} class for {thing} with at least three methods and a short example.",
        "Design a database schema for an app about {subject} and write two queries.",
        "Explain what a {structure} is, when to use it, and implement its insertion in {language}.",
        "Find the mistake in this idea and repair it: a {language} function that {task} by trying every possibility.",
        "Plan a weekend in {city} for {audience}, with one activity about {subject}.",
    ],
}
