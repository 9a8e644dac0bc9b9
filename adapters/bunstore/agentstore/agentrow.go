package agentstore

import (
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
)

// agentColumns holds the columns of an agents.Agent, which several tables contain.
type agentColumns struct {
	Agent              agentJSON `bun:"agent,type:jsonb"`
	PathwayID          string    `bun:"pathway_id"`
	PathwayEnvironment string    `bun:"pathway_environment"`
	PathwayVersion     int       `bun:"pathway_version"`
	StartNode          string    `bun:"start_node"`
	Secrets            string    `bun:"agent_requests"` // sealed agentSecretsJSON
}

// agentSecretsJSON is the JSON form of an agent's webhook, of its brain and of its requests to other systems. It is sealed, because paths, queries and
// headers may contain keys.
type agentSecretsJSON struct {
	Webhook     string        `json:"webhook,omitempty"`
	Brain       string        `json:"brain,omitempty"`
	Tools       []string      `json:"tools,omitzero"`
	DynamicData []dynamicJSON `json:"dynamic_data,omitzero"`
}

type dynamicJSON struct {
	URL      string        `json:"url"`
	Method   string        `json:"method,omitempty"`
	Headers  []pairJSON    `json:"headers,omitzero"`
	Query    []pairJSON    `json:"query,omitzero"`
	Body     []pairJSON    `json:"body,omitzero"`
	Cache    bool          `json:"cache,omitempty"`
	Response []mappingJSON `json:"response,omitzero"`
}

// The purposes of Keyring.Seal bind the secrets of an agent to their row.

func callAgentPurpose(org callwright.OrgID, id string) string {
	return fmt.Sprintf("agent of call:%q:%q", org, id)
}

func webAgentPurpose(org callwright.OrgID, id string) string {
	return fmt.Sprintf("web agent:%q:%q", org, id)
}

func numberAgentPurpose(org callwright.OrgID, number callwright.PhoneNumber) string {
	return fmt.Sprintf("agent of number:%q:%q", org, number)
}

func (db core) agentColumns(purpose string, a agents.Agent) agentColumns {
	columns := agentColumns{
		Agent: agentJSON(a), PathwayID: a.Pathway.ID, PathwayEnvironment: string(a.Pathway.Version.Environment),
		PathwayVersion: a.Pathway.Version.Number, StartNode: a.Pathway.StartNode,
	}
	columns.Agent.Webhook = ""
	if a.Webhook != "" || a.Brain != "" || a.Tools != nil || a.DynamicData != nil {
		text := func(tool json.RawMessage) string { return string(tool) }
		secrets := agentSecretsJSON{a.Webhook, a.Brain, sqldb.Converted(a.Tools, text), sqldb.Converted(a.DynamicData, newDynamicJSON)}
		plain, _ := json.Marshal(secrets) //nolint:errchkjson // texts always have a JSON
		columns.Secrets = db.Keyring.Seal(purpose, callwright.Secret(plain))
	}
	return columns
}

func (db core) agent(purpose string, c agentColumns) (agents.Agent, error) {
	a := agents.Agent(c.Agent)
	a.Pathway = agents.PathwayRef{
		ID: c.PathwayID, StartNode: c.StartNode,
		Version: pathway.Selector{Environment: pathway.Environment(c.PathwayEnvironment), Number: c.PathwayVersion},
	}
	plain, err := db.Unseal(purpose, c.Secrets)
	if err != nil || plain == "" {
		return a, err
	}
	var secrets agentSecretsJSON
	if err := json.Unmarshal([]byte(plain), &secrets); err != nil {
		return a, callwright.ErrInternal.Because(err)
	}
	if secrets.Webhook != "" { // before version 10 of the tables, the column agent held the webhook
		a.Webhook = secrets.Webhook
	}
	a.Brain = secrets.Brain
	a.Tools = sqldb.Converted(secrets.Tools, func(tool string) json.RawMessage { return json.RawMessage(tool) })
	a.DynamicData = sqldb.Converted(secrets.DynamicData, dynamicJSON.dynamicData)
	return a, nil
}

func newDynamicJSON(d agents.DynamicData) dynamicJSON {
	pair := func(p request.Pair) pairJSON { return pairJSON(p) }
	return dynamicJSON{
		d.URL, d.Method, sqldb.Converted(d.Headers, pair), sqldb.Converted(d.Query, pair), sqldb.Converted(d.Body, pair), d.Cache,
		sqldb.Converted(d.Response, func(m request.Mapping) mappingJSON { return mappingJSON(m) }),
	}
}

func (j dynamicJSON) dynamicData() agents.DynamicData {
	pair := func(p pairJSON) request.Pair { return request.Pair(p) }
	return agents.DynamicData{
		URL: j.URL, Method: j.Method, Headers: sqldb.Converted(j.Headers, pair), Query: sqldb.Converted(j.Query, pair),
		Body: sqldb.Converted(j.Body, pair), Cache: j.Cache,
		Response: sqldb.Converted(j.Response, func(m mappingJSON) request.Mapping { return request.Mapping(m) }),
	}
}
