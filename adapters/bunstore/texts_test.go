package bunstore_test

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentteststore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/portingstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/agenttest/agenttesttest"
	"github.com/callwright/callwright/agenttest/run"
	"github.com/callwright/callwright/agenttest/tornado"
	"github.com/callwright/callwright/porting"
	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/manual"
	"github.com/callwright/callwright/porting/portingtest"
	"github.com/callwright/callwright/sip/setup"
)

// why is the reason why a text is sealed or stored in plain text.
type why = storetest.Why

const (
	sealed  = storetest.Sealed
	key     = storetest.Key
	state   = storetest.State
	hash    = storetest.Hash
	label   = storetest.Label
	route   = storetest.Route
	talk    = storetest.Talk
	setting = storetest.Setting
)

// texts lists every column that holds text, by table and reason. For columns that hold a document, documents lists its members.
var texts = map[string]map[why]string{
	"alert_deliveries":    {key: "id org trunk_id", route: "document number", state: "state"},
	"answers":             {sealed: "answer digest", key: "key org"},
	"api_keys":            {hash: "hash prefix", key: "id org replaced_by", label: "name"},
	"call_hours":          {key: "org"},
	"call_logs":           {key: "call_id", talk: "log"},
	"call_notices":        {key: "call_id", state: "category level", talk: "message"},
	"calls":               {sealed: "agent_requests", key: "id node org pathway_id retried_by retry_of", route: "from_number to_number transferred_to", state: "answered_by carriage delivery ending error_message model_used pathway_environment queue start_node stats status transferred_by", talk: "agent analysis answerer metadata plan request_data variables"},
	"deliveries":          {key: "id org subject", route: "host", state: "failure kind state"},
	"endpoints":           {key: "org", route: "host", state: "failure"},
	"inbound_numbers":     {sealed: "agent_requests", key: "org pathway_id persona_id", route: "number", state: "pathway_environment refused start_node", talk: "agent"},
	"leases":              {key: "key node", state: "kind"},
	"organizations":       {sealed: "previous_webhook_secret webhook_secret", key: "id", label: "entitlements name", route: "contact_email default_country", state: "region"},
	"pathway_chat_logs":   {key: "chat_id", talk: "log"},
	"pathway_chats":       {hash: "hash", key: "id org pathway_id", talk: "state"},
	"pathway_versions":    {sealed: "document", hash: "hash", key: "id org pathway_id", label: "name"},
	"pathways":            {sealed: "draft", key: "id org", label: "description name", setting: "promotion"},
	"persona_versions":    {sealed: "document", key: "id org persona_id", state: "type"},
	"personas":            {key: "created_by id org", label: "description image_url name role tags", setting: "draft production"},
	"port_blob_chunks":    {sealed: "bytes", key: "blob_id"},
	"port_blobs":          {hash: "sha256", key: "id"},
	"port_document_uses":  {key: "document_id request_id"},
	"port_documents":      {hash: "sha256", key: "id org", state: "type"},
	"port_history":        {sealed: "note", key: "org request_id", state: "actor detail event from_state to_state"},
	"port_letter_events":  {sealed: "document", key: "org request_id", state: "kind"},
	"port_letter_pdfs":    {sealed: "pdf", key: "org request_id"},
	"port_letters":        {sealed: "document", hash: "head link_hash sha256 signed_sha256", key: "org request_id", state: "state"},
	"port_manual_orders":  {sealed: "document", key: "key ref"},
	"port_open_numbers":   {key: "request_id", route: "number"},
	"port_reservations":   {key: "org request_id", route: "number"},
	"port_requests":       {sealed: "document", key: "id org ref", state: "cancel_asked_by gateway state"},
	"sessions":            {hash: "hash", key: "id key_id org"},
	"sip_calls":           {key: "id node org parent_id sip_call_id trunk_id", route: "from_number number server source to_number", state: "cause direction reason status"},
	"sip_discoveries":     {key: "id org", route: "host", state: "findings reason status transport"},
	"sip_ladders":         {key: "call_id", route: "events"},
	"sip_number_proofs":   {hash: "hash", key: "id org", route: "number", state: "reason state"},
	"sip_test_calls":      {key: "id org", route: "number", state: "result status timeline"},
	"speech_counts":       {key: "org", state: "voice"},
	"speech_samples":      {hash: "digest", key: "blob id org user_id", state: "format language voice", talk: "text"},
	"test_answers":        {sealed: "answer", key: "answer_key org run_id"},
	"test_batches":        {sealed: "document", hash: "hash", key: "id org pathway_id persona_id", state: "kind reason state triggered_by"},
	"test_runs":           {sealed: "outcome result webhook", key: "batch_id id node org pathway_id persona_id scenario_id snapshot_id", label: "name", state: "state summary"},
	"test_scenarios":      {sealed: "document", key: "id org pathway_id persona_id", label: "category name"},
	"test_snapshots":      {sealed: "document", hash: "hash", key: "id org"},
	"tornado_sessions":    {sealed: "progress request", key: "id node org pathway_id persona_id", state: "state"},
	"tornado_steps":       {sealed: "answer", key: "org session_id", state: "name"},
	"transcript_entries":  {key: "call_id", state: "begun holds latency speaker unrecognized waited", talk: "expected text"},
	"triage_comments":     {key: "author id issue_id org", talk: "detail"},
	"triage_counters":     {key: "org"},
	"triage_entries":      {key: "id issue_id org", state: "kind type", talk: "artifact_payload content detail"},
	"triage_flags":        {key: "call_id created_by id issue_id node_id org", label: "node_name", state: "type", talk: "message_text note"},
	"triage_issues":       {key: "assignee_id author id merged_into org owner_id", label: "category external_link", state: "session severity source status", talk: "description search_text search_title title"},
	"triage_relations":    {key: "created_by from_id id org to_id", state: "type"},
	"triage_reports":      {hash: "key", key: "issue_id org"},
	"triage_resources":    {key: "attached_by id issue_id org resource_id", state: "status type", talk: "metadata title"},
	"triage_sessions":     {key: "id issue_id org profile_id started_by", label: "agent_name", state: "status", talk: "analysis pending state"},
	"triage_views":        {key: "issue_id org viewer"},
	"trunk_registrations": {key: "node org trunk_id", route: "number", state: "reason state"},
	"trunk_setups":        {sealed: "password", key: "id org", setting: "document"},
	"trunk_server_names":  {key: "org trunk_id", route: "server_key"},
	"trunk_servers":       {key: "org", route: "server_key", state: "document"},
	"trunk_statuses":      {hash: "alert_group", key: "org trunk_id", route: "number", state: "document state"},
	"trunks":              {sealed: "call_password register_password secrets", key: "id org", route: "endpoint failover number", setting: "alerts codecs headers options", state: "direction"},
	"voices":              {key: "id org", label: "name_key", setting: "document"},
	"web_agents":          {sealed: "agent_requests", key: "id org pathway_id", setting: "voice_settings", state: "pathway_environment start_node", talk: "agent keywords metadata"},
}

// textColumns returns all columns whose type can hold text, as "table.column". It omits the tables of bun and of migrations.
func textColumns(t *testing.T, db *bunstore.DB) (names []string) {
	t.Helper()
	query := `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_info(t.name) c
		WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type NOT IN ('INTEGER', 'BOOLEAN', 'TIMESTAMP')`
	if db.PostgresDSN() != "" {
		query = `SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public'
			AND data_type NOT IN ('smallint', 'integer', 'bigint', 'double precision', 'boolean', 'timestamp with time zone')`
	}
	rows, err := db.SQL().QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "bun_") && !strings.HasPrefix(name, "callwright_migrations.") {
			names = append(names, name)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return names
}

// TestEveryTextIsSealedOrSaysWhyNot fails for a text column that texts does not list exactly once, so that each new column requires a
// decision. It also fails for a listed column that does not exist.
func TestEveryTextIsSealedOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		listed := map[string]int{}
		for table, reasons := range texts {
			for _, columns := range reasons {
				for column := range strings.FieldsSeq(columns) {
					listed[table+"."+column]++
				}
			}
		}
		there := textColumns(t, open(t))
		for _, name := range there {
			if listed[name] != 1 {
				t.Errorf("%s is listed %d times: is it sealed, or why not? See docs/operations.md", name, listed[name])
			}
			delete(listed, name)
		}
		for name := range listed {
			t.Errorf("%s is listed, and there is none", name)
		}
	})
}

// TestSealedColumnsAreUnreadable stores a value in each sealed column, and checks that these values are sealed and that no other column
// contains them in plain text.
func TestSealedColumnsAreUnreadable(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		storeSecrets(t, db)
		if err := errors.Join(storePorts(t.Context(), db), storeTests(t.Context(), db)); err != nil {
			t.Fatal(err)
		}
		for table, reasons := range texts {
			for column := range strings.FieldsSeq(reasons[sealed]) {
				values := slices.DeleteFunc(rawValues(t, db, table, column), func(v string) bool { return v == "" })
				if len(values) == 0 {
					t.Errorf("%s.%s: nothing was stored", table, column)
				}
				for _, value := range values {
					text, ok := strings.CutPrefix(value, "k1:")
					raw, err := base64.RawStdEncoding.DecodeString(text)
					if !ok || err != nil || strings.Contains(string(raw), "hunter2") {
						t.Errorf("%s.%s can be read: %.60s", table, column, value)
					}
				}
			}
		}
		if strings.Contains(string(storetest.AtRest(t, db)), "hunter2") {
			t.Error("what is sealed can be read in another column")
		}
	})
}

// rawValues returns the stored values of a column, one for each row.
func rawValues(t *testing.T, db *bunstore.DB, table, column string) (values []string) {
	t.Helper()
	rows, err := db.SQL().QueryContext(t.Context(), "SELECT "+column+" FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var value []byte
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		values = append(values, string(value))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}

// storePorts stores secrets of port requests, letters, manual orders and documents, and of the setup of a trunk.
func storePorts(ctx context.Context, db *bunstore.DB) error {
	const words = "hunter2-port"
	letters, orders := portingstore.Letters{DB: db}, portingstore.ManualOrders{DB: db}
	letter := loa.Letter{Org: "a", Request: "r", State: loa.Waiting, LinkHash: "h", Content: loa.Content{Request: "r", LastName: words}}
	order := manual.Order{Ref: "o", Key: "k", Numbers: []porting.NumberSnapshot{{Number: "+14155550100"}}}
	order.Submission.Account.AccountNumber = words
	draft := setup.Draft{ID: "d", Org: "o", Username: "alice", Password: words, UpdatedAt: kept24h}
	_, err := portingstore.Blobs{DB: db}.StoreBlob(ctx, strings.NewReader(words), kept24h)
	return errors.Join(err,
		portingstore.Requests{DB: db}.InsertRequest(ctx, portingtest.FullRequest("r"), porting.Entry{Number: 1, Note: words}),
		letters.InsertLetter(ctx, letter, []byte(words), loa.Event{Number: 1, Kind: loa.EventSigned, Name: words}),
		orders.InsertOrder(ctx, order),
		sipstore.Drafts{DB: db}.InsertDraft(ctx, draft, 1, time.Time{}),
	)
}

// storeTests stores secrets of agent tests.
func storeTests(ctx context.Context, db *bunstore.DB) error {
	const node = "n"
	store, sessions := agentteststore.Store{DB: db}, agentteststore.Sessions{DB: db}
	ended, running := agenttesttest.FullRun("r1"), agenttesttest.FullRun("r2")
	running.State, running.Node, running.Trial = run.Running, node, 4
	session := agenttesttest.FullSession("s")
	session.Progress.State, session.Node = tornado.Running, node
	return errors.Join(
		store.InsertScenario(ctx, agenttesttest.FullScenario("s1")),
		store.InsertSnapshots(ctx, []run.Snapshot{agenttesttest.FullSnapshot("snap1")}),
		store.InsertBatch(ctx, agenttesttest.FullBatch("b1")),
		store.InsertRuns(ctx, []run.Run{ended, running}),
		store.AppendAnswer(ctx, "a", "r2", node, "k", []byte("hunter2-answer")),
		sessions.InsertSession(ctx, session),
		sessions.AppendStep(ctx, "a", "s", node, 1, tornado.Step{Name: "ask", At: kept24h, Answer: []byte("hunter2-step")}),
	)
}
