/** The entry point of the console's page. */
import './style/base.css';
import './style/page.css';
import './style/forms.css';
import './style/parts.css';
import './style/json.css';
import './style/lists.css';
import './style/flow.css';
import './style/charts.css';
import './style/search.css';
import './theme.ts';
import './components/time-ago.ts';
import './components/copy-button.ts';
import './components/flow-drawing.ts';
import './components/chart-panel.ts';
import './components/search-field.ts';
import './app.ts';
