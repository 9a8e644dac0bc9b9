package agentteststore

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agenttest/assert"
	"github.com/callwright/callwright/agenttest/engine"
	"github.com/callwright/callwright/agenttest/group"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/scenario"
	"github.com/callwright/callwright/agenttest/tornado"
)

// Documents are the JSON of domain types, whose fields have their Go names there: testdata/documents.json holds all of them, and
// a test fails when one is renamed. The types below only leave out JSON that is not there, which would be read as null.

type scenarioJSON struct {
	scenario.Scenario

	Webhooks   []mockJSON
	Assertions []assertionJSON
	Metadata   json.RawMessage `json:",omitempty"`
}

type mockJSON struct {
	Node   string
	Method string
	URL    string
	Status int
	Body   json.RawMessage `json:",omitempty"`
	Delay  time.Duration
	Fault  scenario.Fault
}

type assertionJSON struct {
	ID       string
	Type     assert.Type
	Name     string
	Config   json.RawMessage `json:",omitempty"`
	Required bool
	Weight   float64
	Order    int
}

type outcomeJSON struct {
	engine.Outcome

	Evidence evidenceJSON
}

type evidenceJSON struct {
	assert.Evidence

	Webhooks []webhookJSON
}

type webhookJSON struct {
	Node   string
	Method string
	URL    string
	Header map[string]string
	Body   json.RawMessage `json:",omitempty"`
	Turn   int
	Visit  int
	At     time.Time
}

type batchJSON struct {
	Scenarios  []run.Subject
	Webhook    string
	Over       int
	Flakes     *group.Flakes     `json:",omitempty"`
	Statistics *group.Statistics `json:",omitempty"`
}

type requestJSON struct {
	Scenarios []tornado.Scenario
	Limits    tornado.Limits
}

type progressJSON struct {
	tornado.Progress

	Usage tornado.Usage
}

func newScenarioJSON(sc scenario.Scenario) scenarioJSON {
	return scenarioJSON{
		sc, sqldb.Converted(sc.Webhooks, func(m scenario.WebhookMock) mockJSON { return mockJSON(m) }),
		sqldb.Converted(sc.Assertions, func(a assert.Assertion) assertionJSON { return assertionJSON(a) }), sc.Metadata,
	}
}

func (j scenarioJSON) scenario() scenario.Scenario {
	sc := j.Scenario
	sc.Webhooks = sqldb.Converted(j.Webhooks, func(m mockJSON) scenario.WebhookMock { return scenario.WebhookMock(m) })
	sc.Assertions = sqldb.Converted(j.Assertions, func(a assertionJSON) assert.Assertion { return assert.Assertion(a) })
	sc.Metadata = j.Metadata
	return sc
}

func newOutcomeJSON(o engine.Outcome) outcomeJSON {
	hooks := sqldb.Converted(o.Evidence.Webhooks, func(w assert.Webhook) webhookJSON { return webhookJSON(w) })
	return outcomeJSON{o, evidenceJSON{o.Evidence, hooks}}
}

func (j outcomeJSON) outcome() engine.Outcome {
	o := j.Outcome
	o.Evidence = j.Evidence.Evidence
	o.Evidence.Webhooks = sqldb.Converted(j.Evidence.Webhooks, func(w webhookJSON) assert.Webhook { return assert.Webhook(w) })
	return o
}

// purpose binds something sealed to its column and row.
func purpose(what, org, id string) string { return fmt.Sprintf("%s:%q:%q", what, org, id) }

// seal encrypts the JSON of a value.
func (db core) seal(purpose string, v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", callwright.ErrInternal.Because(err)
	}
	return db.Keyring.Seal(purpose, callwright.Secret(plain)), nil
}

// unseal reverses seal. It leaves v unchanged for an empty text.
func (db core) unseal(purpose, sealed string, v any) error {
	if sealed == "" {
		return nil
	}
	plain, err := db.Unseal(purpose, sealed)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(plain), v); err != nil {
		return callwright.ErrInternal.Because(err)
	}
	return nil
}
