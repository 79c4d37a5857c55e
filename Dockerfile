# The page without the model: synthetic landscapes and recordings. Serves as a Hugging Face Space of kind "docker", too.
FROM python:3.12-slim
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir .
RUN useradd --create-home reader
USER reader
WORKDIR /home/reader
EXPOSE 7860
CMD ["eagle-viz", "lab", "--no-browser", "--port", "7860", "--address", "0.0.0.0"]
