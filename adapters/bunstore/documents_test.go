package bunstore_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/agents/pathway"
)

const moved = storetest.Moved

// agent lists the members of an agent's document. Its tools, webhook and requests for dynamic data are in the column agent_requests.
var agent = map[why]string{
	key:     "conditions[].Pathway knowledge_bases[] persona_id",
	talk:    "conditions[].When first_sentence idle.Filler idle.Goodbye idle.Prompt keywords[] machines.ScreeningMessage machines.VoicemailMessage persona pronunciation[].Spoken pronunciation[].Word task",
	setting: "background fallback language machines.Announcement machines.Fax machines.IVR machines.Screening machines.Voicemail model sources.* voice voice_settings",
	route:   "transfer_to", moved: "webhook",
}

// actor lists the members of an actor's document.
var actor = map[why]string{key: "id", state: "kind", label: "avatar_url label"}

// documents lists, for each document in an unencrypted column, the members that may contain text, by the reason why they may be stored in
// plain text.
var documents = map[string]map[why]string{
	"alert_deliveries.document":   {route: "to", state: "channel direction error kind"},
	"calls.agent":                 agent,
	"calls.analysis":              {talk: "disposition summary", state: "error"},
	"calls.answerer":              {state: "category rule", talk: "words"},
	"calls.carriage":              {route: "peer redirected_to", key: "sip_call_id", state: "codec srtp_suite tls"},
	"calls.delivery":              {state: "last_failure state"},
	"calls.ending":                {state: "cause reason release"},
	"calls.metadata":              {talk: "*"},
	"calls.plan":                  {talk: "dispositions[] retry.voicemail.message summary_prompt voicemail.message", state: "events[] retry.voicemail.action voicemail.action"},
	"calls.request_data":          {talk: "*"},
	"calls.stats":                 {state: "fault models[].cause", setting: "models[].model models[].replaced"},
	"calls.variables":             {talk: "*"},
	"inbound_numbers.agent":       agent,
	"inbound_numbers.refused":     {state: "*"},
	"organizations.entitlements":  {state: "[]"},
	"pathways.promotion":          {key: "batch"},
	"personas.tags":               {label: "[]"},
	"sip_discoveries.findings":    {route: "addresses[] attempts[].address srv[].service srv[].target", state: "attempts[].error attempts[].tls.version attempts[].transport attempts[].user_agent recommended.codecs[] recommended.methods[] recommended.system.evidence[] recommended.system.note recommended.system.system recommended.system.version recommended.transport recommended.user_agent"},
	"sip_ladders.events":          {route: "[].peer", key: "[].branch", state: "[].body [].detail [].method [].note [].reason [].transport"},
	"sip_test_calls.timeline":     {state: "[].detail [].name"},
	"transcript_entries.begun":    {state: "[].why"},
	"transcript_entries.expected": {state: "kind", talk: "digits"},
	"transcript_entries.holds":    {state: "[].why"},
	"transcript_entries.latency":  {},
	"transcript_entries.waited":   {state: "why"},
	"triage_comments.author":      actor,
	"triage_entries.content":      {key: "actor.id artifact.id referenced[].id resources[].attached_by resources[].id resources[].issue_id resources[].org resources[].resource_id session.id session.profile_id", state: "actor.kind artifact.renderer artifact.status artifact.type from_status referenced[].status resources[].status resources[].type session.status to_status", label: "actor.avatar_url actor.label session.agent_name", talk: "artifact.title artifact.urls[] metadata.* referenced[].title resources[].metadata.* resources[].title"},
	"triage_issues.author":        actor,
	"triage_issues.session":       {key: "id profile_id", label: "agent_name", state: "status"},
	"triage_resources.metadata":   {talk: "*"},
	"triage_sessions.analysis":    {talk: "answers[] prompt"},
	"triage_sessions.pending":     {talk: "[]"},
	"triage_sessions.started_by":  actor,
	"trunk_setups.document":       {route: "allowed endpoint numbers", key: "discovery", setting: "auth directions step username verify"},
	"trunk_servers.document":      {route: "server.host", state: "health.reason health.state verify"},
	"trunk_statuses.document":     {route: "servers[].server.host", state: "alerts.* failback verify"},
	"trunks.alerts":               {moved: "channels.webhook"},
	"trunks.codecs":               {setting: "codecs[].name"},
	"trunks.failover":             {route: "servers[].host", setting: "failback triggers[]"},
	"trunks.headers":              {moved: "[].custom.key [].custom.value [].uui.content [].uui.encoding [].uui.purpose [].uui.target"},
	"trunks.options":              {route: "allowed_ips[]", setting: "auth_mode call_username dtmf redirects register_username transfers transport verify"},
	"web_agents.agent":            agent,
	"web_agents.keywords":         {talk: "[]"},
	"web_agents.metadata":         {talk: "*"},
}

// encoded lists unencrypted columns that contain JSON as text. They are not JSONB, because JSONB would change the text. The JSON is either
// opaque, from other systems, or a document whose members the named test checks.
var encoded = map[string]string{
	"call_logs.log":                   "TestMembersOfLogs of agentstore",
	"pathway_chat_logs.log":           "TestMembersOfLogs of agentstore",
	"pathway_chats.state":             "below",
	"triage_entries.artifact_payload": "of those who feed the issue",
	"triage_sessions.state":           "of the analyst",
	"voices.document":                 "TestMembersOfVoices of speechstore",
	"web_agents.voice_settings":       "of clients",
}

// TestEveryMemberSaysWhyItIsPlain fails for each member of a stored document that is not listed with the reason why it is not encrypted. It
// also fails if a column holds JSON and is not listed, or is listed and holds no document.
func TestEveryMemberSaysWhyItIsPlain(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, storetest.Databases["postgres"](t))
	storeSecrets(t, db)
	if err := errors.Join(storePorts(t.Context(), db), storeTests(t.Context(), db)); err != nil {
		t.Fatal(err)
	}
	readDocuments(t, db)
	types := documentTypes(t, db)
	for table, reasons := range texts {
		for reason, columns := range reasons {
			for column := range strings.FieldsSeq(columns) {
				name := table + "." + column
				of, isDocument := types[name]
				_, isEncoded := encoded[name]
				switch stated, ok := documents[name]; {
				case isDocument && ok:
					storetest.CheckMembers(t, name, of, stated)
				case isDocument || ok:
					t.Errorf("%s: is a document: %v, is listed as one: %v", name, isDocument, ok)
				case reason != sealed && !isEncoded && slices.ContainsFunc(rawValues(t, db, table, column), looksLikeJSON):
					t.Errorf("%s: holds JSON and is no document", name)
				}
				delete(types, name)
			}
		}
	}
	for name := range types {
		t.Errorf("%s is a document in no listed column", name)
	}
	storetest.CheckMembers(t, "pathway_chats.state", reflect.TypeFor[pathway.State](), map[why]string{
		key: "Node Return Visited[] Talk.Messages[].Call Talk.Messages[].Calls[].ID", state: "Talk.Messages[].Role",
		talk: "Variables.* Talk.Messages[].Calls[].Arguments Talk.Messages[].Calls[].Extra Talk.Messages[].Calls[].Name Talk.Messages[].Text " +
			"Talk.Unheard Talk.Unsaid Interruption.Rest ReturnInterruption.Rest",
	})
}

func looksLikeJSON(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// documentTypes returns the Go type of every column that holds JSON, by "table.column". It fails the test for a JSON column that no model
// declares as jsonb, or whose model bun has not used yet.
func documentTypes(t *testing.T, db *bunstore.DB) map[string]reflect.Type {
	t.Helper()
	types, known := map[string]reflect.Type{}, map[string]bool{}
	err := db.Core().Read(t.Context(), nil, func(_ context.Context, idb bun.IDB) error {
		for _, table := range idb.Dialect().Tables().All() {
			for _, f := range table.Fields {
				known[table.Name+"."+f.Name] = true
				if f.UserSQLType == "jsonb" && !f.Tag.HasOption("scanonly") {
					types[table.Name+"."+f.Name] = f.IndirectType
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for table := range texts {
		for _, column := range jsonColumns(t, db, table) {
			if name := table + "." + column; types[name] == nil {
				t.Errorf("%s holds JSON: known to bun: %v", name, known[name])
			}
		}
	}
	return types
}

// jsonColumns returns the columns of a table whose type is JSON or JSONB.
func jsonColumns(t *testing.T, db *bunstore.DB, table string) (names []string) {
	t.Helper()
	rows, err := db.SQL().QueryContext(t.Context(), `SELECT column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND table_name = $1 AND data_type IN ('json', 'jsonb')`, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// readDocuments reads absent rows, so that bun registers the models with documents that the caller has not used yet.
func readDocuments(t *testing.T, db *bunstore.DB) {
	t.Helper()
	ctx := t.Context()
	issues, calls := triagestore.Store{DB: db}, agentstore.Calls{DB: db}
	trunkDeliveries, looks := sipstore.Deliveries{DB: db}, sipstore.Discoveries{DB: db}
	testCalls, callLog := sipstore.TestCalls{DB: db}, sipstore.CallLog{DB: db}
	for _, read := range []func() error{
		func() error { _, err := calls.Transcript(ctx, "o", "c"); return err },
		func() error {
			_, err := trunkDeliveries.DeliveriesOf(ctx, "o", "+1", callwright.Keyset{}, 1)
			return err
		},
		func() error { _, err := looks.Get(ctx, "o", "x"); return err },
		func() error { _, err := (sipstore.Statuses{DB: db}).Server(ctx, "o", "x"); return err },
		func() error { _, err := testCalls.Get(ctx, "o", "x"); return err },
		func() error { _, _, err := callLog.Get(ctx, "o", "x"); return err },
		func() error { _, err := issues.Issue(ctx, "o", "x"); return err },
		func() error { _, err := issues.Comment(ctx, "o", "x", "x"); return err },
		func() error { _, err := issues.Entries(ctx, "o", "x", callwright.Keyset{}, 1); return err },
		func() error { _, err := issues.Resource(ctx, "o", "x", "x"); return err },
		func() error { _, err := issues.SilentSessions(ctx, time.Time{}, time.Time{}, 1); return err },
	} {
		if err := read(); err != nil && !errors.Is(err, callwright.ErrNotFound) {
			t.Fatal(err)
		}
	}
}
