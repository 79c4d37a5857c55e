"""Prompts of other kinds than the training templates: a head is surer of itself at home than abroad.

Fitted on held-out answers to its own templates, confidences are right there and too high elsewhere. These prompts, none
of them a template's, give the answers on which confidences are fitted.
"""

PROMPTS = (
    "My sister gets married next month and I have to say a few words at dinner. Can you write a toast that is warm and short?",
    "I have two job offers, one near home and one abroad with better pay. Help me think it through.",
    "Could you proofread this? 'Their going too the store tomorow because there out of milk and butter.'",
    "Explain to me like I know nothing: what happens when I type an address into a web browser?",
    "A shop sells pens in packs of six. I need 50 pens. How many packs must I buy, and how many pens are left over?",
    "Write a scene at an airport where two old friends meet by accident after twenty years.",
    "What is the difference between weather and climate? Use an example from daily life.",
    "Here is a Python error: IndexError: list index out of range. What does it mean and how do I find the cause?",
    "Suggest a week of cheap vegetarian dinners for two people who do not like mushrooms.",
    "If all roses are flowers and some flowers fade quickly, must some roses fade quickly? Explain.",
    "Write a job advertisement for a night receptionist at a small hotel.",
    "Tell me the story of the tortoise and the hare, but from the view of the hare.",
    "How would you measure the height of a tree without climbing it?",
    "Rewrite this to sound more confident: 'I was just wondering if maybe we could possibly meet sometime.'",
    "Give me a regular expression that matches dates such as 2024-03-15, and explain each part.",
    "What questions should I ask a landlord before I sign a lease?",
    "Pretend you are a lighthouse keeper in 1890 and write today's page of your diary.",
    "Why is the sky blue during the day and red at sunset?",
    "Compute 15 percent of 240 and then add 12. Show how you got there.",
    "Make a pros and cons table for working from home.",
    "Write the first verse and the chorus of a sea shanty about a broken computer.",
    "Our team misses deadlines because meetings take too long. What would you change first?",
    "In JavaScript, what is the difference between == and ===? Give a short example of each.",
    "Summarise the plot of Romeo and Juliet in three sentences.",
    "My houseplant has yellow leaves. What might be wrong, and what can I try?",
    "Which is heavier, a kilogram of feathers or a kilogram of iron? Why do people get this wrong?",
    "Write a polite refusal to an invitation without giving a reason.",
    "Describe the taste of a lemon to someone who has never eaten one.",
    "What are the three branches of government in the United States and what does each one do?",
    "Write a bash one-liner that counts how many lines in a log file contain the word ERROR.",
    "Invent a new board game for four players and explain its rules.",
    "From this text list every person and their job: 'Dr. Osei operated while nurse Bell assisted and Mr. Tran kept the records.'",
    "What should I pack for a five day hike in the rain?",
    "Explain compound interest with an example of 1000 dollars at 5 percent for three years.",
    "Write an apology from a restaurant to a guest whose soup was cold.",
    "How do vaccines train the body to fight a disease?",
    "Translate 'good morning, how are you?' into French, Spanish and German.",
    "Give me feedback on this opening line: 'It was raining, and the letter had not come.'",
    "A farmer has chickens and cows, 20 heads and 56 legs together. How many of each are there?",
    "What can a city do to make its streets safer for cyclists?",
    "Write a C program that prints the multiplication table from 1 to 10.",
    "Who was Marie Curie and why is she remembered?",
    "Continue the story: The door at the end of the corridor had never been locked before.",
    "What is the meaning of the proverb 'a stitch in time saves nine'? When would you say it?",
    "Draft a short privacy notice for a neighbourhood library that lends tools.",
    "Design a simple experiment to find out whether plants grow better with music.",
    "Give three reasons why people procrastinate and one remedy for each.",
    "Write a recursive function that computes Fibonacci numbers and say why it is slow.",
)

EXACT_PROMPTS = (
    "Complete this Python function:\n"
    "\n"
    "def is_palindrome(text: str) -> bool:\n"
    '    """Whether the text reads the same from both ends, ignoring case."""\n',
    "Complete this Python function:\n"
    "\n"
    "def running_mean(numbers: list[float], width: int) -> list[float]:\n"
    '    """The mean of every window of so many neighbours."""\n',
    "Write a Python class Stack with push, pop, peek and a test for each.",
    "Write a JavaScript function that groups an array of objects by a key.",
    "Write a Python script that reads a CSV file and prints the sum of the second column.",
    "Write a Java method that returns the largest number in an array.",
    "Write an SQL table for books and one for loans, and a query for books that are out on loan.",
    "Write a Go function that counts words in a string.",
    "Write an HTML form with name, email and a submit button.",
    "Write a Rust function that returns the greatest common divisor of two numbers.",
    "Write a shell script that renames all .jpeg files in a folder to .jpg.",
    "Write a unit test in Python for a function add(a, b).",
    "A train leaves at 9:40 and arrives at 13:25. How long does the journey take? Show the steps.",
    "Compute 384 + 597 step by step.",
    "Compute 27 * 14 step by step.",
    "Maria has 48 apples. She gives a quarter to Tom and eats 3. How many are left?",
    "A rectangle is 12 cm long and 7 cm wide. What are its area and its perimeter?",
    "Solve 3x + 7 = 31 and check the answer.",
    "A class of 30 pupils has 18 girls. What percentage are boys?",
    "A car uses 6 litres of petrol for 100 km. How much does it need for 350 km? Show your work.",
    "List the multiples of 7 from 7 to 98.",
    "A book costs 15 dollars and is reduced by 20 percent. What is the new price?",
    "Count from one to thirty in words.",
    "Write a JSON list of five fictional employees with id, name, and role.",
)
"""Code, arithmetic and counting: answers that have few ways to go on."""
