(() => {
  const form = document.getElementById("filters");
  const answers = Array.from(document.querySelectorAll("details.answer"));
  const shown = document.getElementById("shown");
  const apply = () => {
    const { state, kind, system, words } = Object.fromEntries(new FormData(form));
    const wanted = words.toLowerCase();
    let count = 0;
    for (const answer of answers) {
      const data = answer.dataset;
      answer.hidden = (state && data.state !== state) || (kind && data.kind !== kind) ||
        (system && data.system !== system) || (wanted && !answer.textContent.toLowerCase().includes(wanted));
      count += answer.hidden ? 0 : 1;
    }
    shown.textContent = `${count} of ${answers.length}`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  apply();
})();
