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

// Documents are the JSON forms of domain types. testdata/documents.json contains an example of each, and a test fails if a member is
// renamed. Scenarios use the JSON of the contract: see scenario.Decode. The members of other documents have the names of the Go fields. The
// types below omit absent JSON values, which would otherwise be stored, and read again, as null.

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

// purpose returns the purpose of Keyring.Seal that binds a sealed value to its column and row.
func purpose(what, org, id string) string { return fmt.Sprintf("%s:%q:%q", what, org, id) }

// seal encodes a value as JSON and encrypts it.
func (db core) seal(purpose string, v any) (string, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return "", callwright.ErrInternal.Because(err)
	}
	return db.Keyring.Seal(purpose, callwright.Secret(plain)), nil
}

// unsealScenario decrypts and decodes a scenario that seal encrypted, including scenarios of earlier releases. It returns a zero scenario
// for an empty text.
func (db core) unsealScenario(purpose, sealed string) (sc scenario.Scenario, err error) {
	var raw json.RawMessage
	if err := db.unseal(purpose, sealed, &raw); err != nil || raw == nil {
		return sc, err
	}
	if err := json.Unmarshal(upgraded(raw), &sc); err != nil {
		return sc, callwright.ErrInternal.Because(err)
	}
	return sc, nil
}

// unseal decrypts and decodes a value that seal encrypted. It leaves v unchanged if sealed is empty.
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
