package bunstore_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/agents/persona"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/sip/alert"
	"github.com/callwright/callwright/sip/header"
)

var kept24h = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// secrets lists the texts of storeSecrets that must not be readable in a database.
var secrets = []string{
	"hunter2-webhook", "hunter2-call", "hunter2-register", "hunter2-answer", "hunter2-digest", "hunter2-tool",
	"hunter2-header", "hunter2-query", "hunter2-body", "hunter2-node", "hunter2-edge", "hunter2-hook", "hunter2-constant",
	"hunter2-alert", "hunter2-previous",
}

// secretTrunk returns a trunk with passwords, and with secrets in a header and in the URL of its alerts.
func secretTrunk(id string, number callwright.PhoneNumber) sip.Trunk {
	trunk := sip.Trunk{ID: id, Org: "o", Number: number, Direction: sip.Outbound, Version: 1}
	trunk.Options.Call = sip.Credentials{Username: "alice", Password: "hunter2-call"}
	trunk.Options.Register = sip.Credentials{Username: "bob", Password: "hunter2-register"}
	trunk.Headers = []header.Rule{{Custom: &header.Custom{Key: "X-Key", Value: "hunter2-constant", Passthrough: true}}}
	trunk.Alerts = &alert.Config{Enabled: true, Channels: alert.Channels{Webhook: "https://x.example/hunter2-alert"}}
	return trunk
}

// secretAgent returns an agent with secrets in the URL of its webhook, in its tools, and in its requests for dynamic data.
func secretAgent() agents.Agent {
	return agents.Agent{
		Task: "Ask alice.", Webhook: "https://x.example/?token=hunter2-hook",
		Tools: []json.RawMessage{json.RawMessage(`{"headers":{"X-Key":"hunter2-tool"}}`)},
		DynamicData: []agents.DynamicData{{
			URL: "https://x.example/", Headers: []request.Pair{{Name: "X-Key", Value: "hunter2-header"}},
			Query: []request.Pair{{Name: "key", Value: "hunter2-query"}},
			Body:  []request.Pair{{Name: "key", Value: "hunter2-body"}},
		}},
	}
}

// storeAgents stores agents, pathways and a persona with secrets, with each method that inserts or updates them.
func storeAgents(ctx context.Context, db *bunstore.DB) error {
	calls, numbers, web := agentstore.Calls{DB: db}, agentstore.Numbers{DB: db}, agentstore.WebAgents{DB: db}
	c := call.Call{ID: "c", Org: "o", Agent: secretAgent(), Version: 1}
	n := agents.InboundNumber{Org: "o", Number: "+15550000001", Agent: secretAgent(), Version: 1}
	a := agents.WebAgent{ID: "w", Org: "o", Agent: secretAgent(), Version: 1}
	pathways := agentstore.Pathways{DB: db}
	document := graph.Document{
		Nodes: []json.RawMessage{json.RawMessage(`{"headers":{"X-Key":"hunter2-node"}}`)},
		Edges: []json.RawMessage{json.RawMessage(`{"id":"hunter2-edge"}`)},
	}
	p := pathway.Pathway{ID: "p", Org: "o", Draft: document, Revision: 1}
	v := pathway.Version{ID: "v", Org: "o", Pathway: "p", Number: 1, Document: document}
	personas := agentstore.Personas{DB: db}
	draft := persona.Version{ID: "v", Persona: "p", Org: "o", Type: persona.Draft, Number: 1, Tools: secretAgent().Tools, Revision: 1}
	for _, keep := range []func() error{
		func() error { return calls.Insert(ctx, c) }, func() error { return calls.Update(ctx, c) },
		func() error { return numbers.InsertNumber(ctx, n) }, func() error { return numbers.UpdateNumber(ctx, n) },
		func() error { return web.InsertAgent(ctx, a) }, func() error { return web.UpdateAgent(ctx, a) },
		func() error { return pathways.InsertPathway(ctx, p) }, func() error { return pathways.UpdatePathway(ctx, p) },
		func() error { return pathways.InsertVersion(ctx, v) },
		func() error { return personas.InsertPersona(ctx, persona.Persona{ID: "p", Org: "o"}) },
		func() error { return personas.InsertVersion(ctx, draft) }, func() error { return personas.UpdateDraft(ctx, draft) },
	} {
		if err := keep(); err != nil {
			return err
		}
	}
	return nil
}

// storeSecrets stores secrets of organizations, trunks, answers, agents, pathways and personas, with each method that inserts or updates
// them.
func storeSecrets(t *testing.T, db *bunstore.DB) {
	t.Helper()
	secretive := organization("o")
	secretive.WebhookSecret, secretive.PreviousWebhookSecret = "hunter2-webhook", "hunter2-previous"
	trunk := secretTrunk("t1", "+15550000001")
	trunks, tenants := sipstore.Trunks{DB: db}, orgstore.Tenants{DB: db}
	keep := func(at time.Time) error { // replaces an answer that is older than at
		answers := orgstore.IdempotencyStore{DB: db}
		return answers.StoreAnswer(t.Context(), "o", "k", []byte("hunter2-digest"), []byte("hunter2-answer"), at, at)
	}
	for _, err := range []error{
		tenants.InsertOrganization(t.Context(), secretive), tenants.UpdateOrganization(t.Context(), secretive),
		trunks.Insert(t.Context(), trunk), trunks.Insert(t.Context(), secretTrunk("t2", "+15550000002")),
		trunks.Update(t.Context(), trunk),
		sipstore.Statuses{DB: db}.StoreStatus(t.Context(), sip.Status{TrunkID: "t1", Org: "o", Number: trunk.Number}),
		sipstore.Registrations{DB: db}.StoreRegistration(t.Context(), sip.Registration{TrunkID: "t1", Org: "o"}),
		keep(kept24h), keep(kept24h.Add(time.Second)), storeAgents(t.Context(), db),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSecretsAreSealed checks that no column of any table contains a secret in plain text or in hexadecimal.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		storeSecrets(t, db)
		var all strings.Builder
		for _, c := range columns(t, db) {
			all.WriteString(storetest.Dump(t, db, c.table, c.name) + "\n")
		}
		for _, secret := range append(secrets, "hunter2") {
			if strings.Contains(all.String(), secret) || strings.Contains(all.String(), hex.EncodeToString([]byte(secret))) {
				t.Errorf("the database holds %s", secret)
			}
		}
		for table, column := range map[string]string{
			"organizations": "webhook_secret", "trunks": "secrets", "calls": "agent_requests",
			"inbound_numbers": "agent_requests", "web_agents": "agent_requests", "pathways": "draft", "pathway_versions": "document",
			"persona_versions": "document",
		} {
			if sealed := storetest.Dump(t, db, table, column); !strings.HasPrefix(sealed, "k1:") {
				t.Errorf("%s.%s holds %s", table, column, sealed)
			}
		}
	})
}

// TestFileHoldsNoSecret checks that neither the SQLite file nor its write-ahead log contains a secret.
func TestFileHoldsNoSecret(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	storeSecrets(t, storetest.Open(t, "sqlite:"+filepath.Join(folder, "secret.db")))
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all []byte
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	if !strings.Contains(string(all), "alice") {
		t.Fatal("the files do not hold even what is no secret")
	}
	for _, secret := range secrets {
		if strings.Contains(string(all), secret) {
			t.Errorf("the files hold %s", secret)
		}
	}
}

// TestMovedSecretDoesNotOpen copies a sealed value of a trunk to another trunk, or to another column: reading the trunk fails.
func TestMovedSecretDoesNotOpen(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		for to, from := range map[string]string{
			"call_password":     "SELECT call_password FROM trunks WHERE id = 't1'",
			"register_password": "SELECT call_password FROM trunks WHERE id = 't2'",
			"secrets":           "SELECT secrets FROM trunks WHERE id = 't1'",
		} {
			db := open(t)
			storeSecrets(t, db)
			_, err := db.SQL().ExecContext(t.Context(), "UPDATE trunks SET "+to+" = ("+from+") WHERE id = 't2'")
			if err != nil {
				t.Fatal(err)
			}
			_, err = sipstore.Trunks{DB: db}.Owner(t.Context(), "+15550000002", sip.Outbound)
			if callwright.CodeOf(err) != callwright.CodeInternal || strings.Contains(callwright.MessageOf(err), "key") {
				t.Errorf("another's %s gave %v", to, err)
			}
		}
	})
}

// TestMovedWebhookSecretDoesNotOpen replaces the sealed webhook secret with the sealed previous one, and vice versa: reading the
// organization fails.
func TestMovedWebhookSecretDoesNotOpen(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		for to, from := range map[string]string{"webhook_secret": "previous_webhook_secret", "previous_webhook_secret": "webhook_secret"} {
			db := open(t)
			storeSecrets(t, db)
			if _, err := db.SQL().ExecContext(t.Context(), "UPDATE organizations SET "+to+" = "+from); err != nil {
				t.Fatal(err)
			}
			if _, err := (orgstore.Tenants{DB: db}).Organization(t.Context(), "o"); callwright.CodeOf(err) != callwright.CodeInternal {
				t.Errorf("%s in the place of %s gave %v", from, to, err)
			}
		}
	})
}

// TestMovedDocumentsDoNotOpen moves sealed values of agents and pathways to other rows, columns, numbers or organizations: reading them
// fails.
func TestMovedDocumentsDoNotOpen(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		if err := storeAgents(t.Context(), db); err != nil {
			t.Fatal(err)
		}
		pathways := agentstore.Pathways{DB: db}
		for name, test := range map[string]struct {
			move string
			read func() error
		}{
			"call": {"UPDATE calls SET agent_requests = (SELECT agent_requests FROM web_agents)", func() error {
				_, err := agentstore.Calls{DB: db}.Get(t.Context(), "o", "c")
				return err
			}},
			"number": {"UPDATE inbound_numbers SET number = '+15550000002'", func() error {
				_, err := agentstore.Numbers{DB: db}.Number(t.Context(), "o", "+15550000002")
				return err
			}},
			"web agent": {"UPDATE web_agents SET org = 'b'", func() error {
				_, err := agentstore.WebAgents{DB: db}.Agent(t.Context(), "b", "w")
				return err
			}},
			"draft": {"UPDATE pathways SET draft = (SELECT document FROM pathway_versions)", func() error {
				_, err := pathways.Pathway(t.Context(), "o", "p")
				return err
			}},
			"version": {"UPDATE pathway_versions SET number = 2", func() error {
				_, err := pathways.Version(t.Context(), "o", "p", 2)
				return err
			}},
			"persona": {"UPDATE persona_versions SET id = 'w'", func() error {
				_, err := agentstore.Personas{DB: db}.Version(t.Context(), "o", "w")
				return err
			}},
		} {
			if _, err := db.SQL().ExecContext(t.Context(), test.move); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if err := test.read(); callwright.CodeOf(err) != callwright.CodeInternal {
				t.Errorf("%s: what was moved gave %v", name, err)
			}
		}
	})
}

// TestRowsOfEarlierReleases reads rows with plain text in columns that are now sealed, and checks that updates of these rows seal it.
func TestRowsOfEarlierReleases(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		storeSecrets(t, db)
		const hook = `'{"task":"Ask alice.","webhook":"https://x.example/?token=hunter2-hook"}'`
		for _, statement := range []string{
			"UPDATE calls SET agent = " + hook + ", agent_requests = ''",
			"UPDATE web_agents SET agent = " + hook + ", agent_requests = ''",
			"UPDATE inbound_numbers SET agent = " + hook + ", agent_requests = ''",
			`UPDATE trunks SET secrets = '', headers = '[{"custom":{"key":"X-Key","value":"hunter2-constant","passthrough":true}}]',
				alerts = '{"enabled":true,"thresholds":{},"channels":{"webhook":"https://x.example/hunter2-alert"}}'`,
		} {
			if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		ctx := t.Context()
		trunks, web, numbers := sipstore.Trunks{DB: db}, agentstore.WebAgents{DB: db}, agentstore.Numbers{DB: db}
		trunk, trunkErr := trunks.Trunk(ctx, "o", "t1")
		c, callErr := agentstore.Calls{DB: db}.Get(ctx, "o", "c")
		a, agentErr := web.Agent(ctx, "o", "w")
		n, numberErr := numbers.Number(ctx, "o", "+15550000001")
		if err := errors.Join(trunkErr, callErr, agentErr, numberErr); err != nil {
			t.Fatal(err)
		}
		want := secretTrunk("t1", "+15550000001")
		if !reflect.DeepEqual(trunk.Headers, want.Headers) || !reflect.DeepEqual(trunk.Alerts, want.Alerts) {
			t.Errorf("the trunk is %+v", trunk)
		}
		for _, webhook := range []string{c.Agent.Webhook, a.Agent.Webhook, n.Agent.Webhook} {
			if webhook != secretAgent().Webhook {
				t.Errorf("the webhook is %q", webhook)
			}
		}
		if err := errors.Join(trunks.Update(ctx, trunk), web.UpdateAgent(ctx, a), numbers.UpdateNumber(ctx, n)); err != nil {
			t.Fatal(err)
		}
		for table, column := range map[string]string{"web_agents": "agent", "inbound_numbers": "agent"} {
			if text := storetest.Dump(t, db, table, column); strings.Contains(text, "hunter2") {
				t.Errorf("%s.%s is %s", table, column, text)
			}
		}
		if again, err := trunks.Trunk(ctx, "o", "t1"); err != nil || !reflect.DeepEqual(again.Headers, want.Headers) {
			t.Errorf("after an update the trunk is %+v, %v", again, err)
		}
	})
}

// TestOtherKeyring opens a database without the key of its sealed values: reading them returns CodeInternal.
func TestOtherKeyring(t *testing.T) {
	t.Parallel()
	at := storetest.Databases["sqlite"](t)
	storeSecrets(t, storetest.Open(t, at))
	db, err := bunstore.Open(t.Context(), at, bunstore.Config{Keyring: storetest.Keyring(t, "k2")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, orgErr := orgstore.Tenants{DB: db}.Organization(t.Context(), "o")
	_, trunkErr := sipstore.Trunks{DB: db}.Trunk(t.Context(), "o", "t1")
	for _, err := range []error{orgErr, trunkErr} {
		if callwright.CodeOf(err) != callwright.CodeInternal {
			t.Errorf("got %v", err)
		}
	}
}

// TestUnreadableAnswerIsAbsent checks that Find does not find an unsealed answer, an answer sealed with an unknown key, or a moved value.
// Such an answer can be replaced.
func TestUnreadableAnswerIsAbsent(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		for name, ruin := range map[string]string{
			"unsealed": `UPDATE answers SET digest = BYTES'616263', answer = BYTES'7b7d'`,
			"no key":   `UPDATE answers SET answer = BYTES'6b393a41414141'`, // the text k9:AAAA
			"moved":    `UPDATE answers SET digest = answer`,
		} {
			db := open(t)
			storeSecrets(t, db)
			begin := "X'" // begins a literal of bytes
			if db.PostgresDSN() != "" {
				begin = `'\x`
			}
			if _, err := db.SQL().ExecContext(t.Context(), strings.ReplaceAll(ruin, "BYTES'", begin)); err != nil {
				t.Fatal(err)
			}
			answers := orgstore.IdempotencyStore{DB: db}
			if _, _, err := answers.Find(t.Context(), "o", "k", kept24h); !errors.Is(err, callwright.ErrNotFound) {
				t.Errorf("%s: found with %v, want not found", name, err)
			}
			again := func(text string) error {
				return db.Do(t.Context(), func(ctx context.Context) error {
					return answers.StoreAnswer(ctx, "o", "k", []byte("d"), []byte(text), kept24h, kept24h)
				})
			}
			if err := again("first"); err != nil {
				t.Fatalf("%s: keeping another: %v", name, err)
			}
			if err := again("second"); !errors.Is(err, callwright.ErrConflict) {
				t.Errorf("%s: keeping a second gave %v, want a conflict", name, err)
			}
			digest, answer, err := answers.Find(t.Context(), "o", "k", kept24h)
			if err != nil || string(digest) != "d" || string(answer) != "first" {
				t.Errorf("%s: found %q, %q, %v", name, digest, answer, err)
			}
		}
	})
}
