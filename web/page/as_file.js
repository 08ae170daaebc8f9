// A page that is opened as a file: browsers load no modules, such as main.js, from there.
if (location.protocol === 'file:') {
  const find = (name) => document.getElementById(name);
  document.body.dataset.state = 'refused';
  find('reason').textContent = 'Browsers run no programs of pages that are opened as files. From the folder above: scripts/web.sh serve, or python3 -m http.server in this one, and open http://localhost:8000/.';
  find('picture').src = 'drystone.png';
  find('refused').hidden = false;
}
