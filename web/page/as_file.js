// Shows an error if the page is opened as a file: browsers do not load modules (main.js) from files.
if (location.protocol === 'file:') {
  const find = (name) => document.getElementById(name);
  document.body.dataset.state = 'refused';
  find('reason').textContent = 'Browsers do not run this page from a file. Run python3 -m http.server in the folder of this page, or scripts/web.sh serve in the repository. Then open http://localhost:8000/.';
  find('refused').hidden = false;
}
