// A question is judged by the server when an option is chosen; then every option is explained.
import { ask } from "./asking.js";

const quiz = document.querySelector(".quiz"), answers = {};

for (const question of quiz.querySelectorAll(".question")) for (const option of question.querySelectorAll(".option")) option.addEventListener("click", async () => {
  const name = question.dataset.question, options = [...question.querySelectorAll(".option")];
  if (answers[name]) return;
  answers[name] = option.dataset.key;
  for (const one of options) one.disabled = true;
  let told;
  try {
    told = await ask("quiz", { lesson: quiz.dataset.lesson, latest: name, answers });
  } catch (error) {
    delete answers[name];
    for (const one of options) one.disabled = false;
    question.querySelector(".whys").textContent = error.message;
    return;
  }
  option.classList.add("chosen");
  question.classList.add(told.right ? "right" : "wrong");
  for (const { key, why, right } of told.whys) {
    const one = options.find((each) => each.dataset.key === key), line = document.createElement("span");
    line.className = "why";
    line.innerHTML = why; // made and escaped by the server
    one.lastElementChild.append(line);
    one.classList.add(right ? "is-right" : "is-wrong");
  }
  question.querySelector(".whys").textContent = told.right ? "Right." : "Not so.";
  const [right, total] = told.score;
  if (told.complete) document.getElementById("score").textContent = `${right} of ${total} right. The score is kept${right < total ? "; what you missed comes back in gradledger learn recall" : ""}.`;
});
document.documentElement.dataset.ready = "yes";
