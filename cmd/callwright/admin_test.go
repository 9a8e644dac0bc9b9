package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/access"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/adapters/masterkey"
)

// adminJSON is the JSON output of the admin commands.
type adminJSON struct {
	Status        string `json:"status"`
	Organizations []struct {
		Name string `json:"name"`
	} `json:"organizations"`
	Organization struct {
		ID           string     `json:"id"`
		PreviousEnds *time.Time `json:"previous_webhook_secret_ends_at"`
	} `json:"organization"`
	Secret string `json:"webhook_secret"`
	Key    struct {
		ID string `json:"id"`
	} `json:"key"`
	APIKey   string `json:"api_key"`
	Replaces struct {
		ID         string     `json:"id"`
		Status     string     `json:"status"`
		ReplacedBy string     `json:"replaced_by"`
		ExpiresAt  *time.Time `json:"expires_at"`
	} `json:"replaces"`
	Keys []struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"keys"`
	Next string `json:"next_cursor"`
}

// admin runs an admin command with --json, and decodes its output.
func admin(t *testing.T, env map[string]string, args ...string) (got adminJSON) {
	t.Helper()
	out, _ := run(t, env, 0, append([]string{"admin", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return got
}

// access returns a service that checks keys like the server of the deployment.
func (d *deployment) access() *access.Service {
	d.t.Helper()
	key, err := masterkey.Find("", d.data)
	if err != nil {
		d.t.Fatal(err)
	}
	keys, err := key.Keys()
	if err != nil {
		d.t.Fatal(err)
	}
	s, err := access.New(access.Config{Store: orgstore.Tenants{DB: d.db}, Atomic: d.db, Secret: keys.APIKeys})
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

// walkAdmin creates and changes an organization and keys with admin commands. It checks each change with a service that runs at the same
// time.
func walkAdmin(t *testing.T, s *access.Service, env map[string]string) {
	t.Helper()
	works := func(what, key string, want bool) {
		t.Helper()
		if p, err := s.CheckKey(t.Context(), key); (err == nil) != want || err != nil && !errors.Is(err, callwright.ErrAuthFailure) {
			t.Errorf("%s gave %+v, %v", what, p, err)
		}
	}
	made := admin(t, env, "orgs", "create", "Acme & Söhne", "--grant", "sip")
	org := made.Organization.ID
	if o, err := s.Organization(t.Context(), callwright.OrgID(org)); err != nil || o.WebhookSecret.Reveal() != made.Secret || !o.Entitled(callwright.EntitlementSIP) {
		t.Fatalf("the organization is %+v, %v", o, err)
	}
	if list := admin(t, env, "orgs", "list"); len(list.Organizations) != 1 || list.Organizations[0].Name != "Acme & Söhne" {
		t.Errorf("the organizations are %+v", list)
	}
	run(t, env, 0, "admin", "orgs", "set", org, "--grant", "operator")
	if o, err := s.Organization(t.Context(), callwright.OrgID(org)); err != nil || !o.Entitled(callwright.EntitlementOperator) {
		t.Errorf("the organization of operators is %+v, %v", o, err)
	}
	run(t, env, 0, "admin", "orgs", "set", org, "--withdraw", "SIP", "--withdraw", "OPERATOR", "--contact", "noc@acme.example", "--name", "Acme")
	out, _ := run(t, env, 0, "admin", "orgs", "show", org)
	wantText(t, out, "Acme\n", "noc@acme.example", "Entitlements  -")

	run(t, env, 0, "admin", "orgs", "set", org, "--max-numbers", "5000")
	if o, err := s.Organization(t.Context(), callwright.OrgID(org)); err != nil || o.NumberLimit() != 5000 {
		t.Errorf("the limit of numbers is %d, %v", o.NumberLimit(), err)
	}
	out, _ = run(t, env, 0, "admin", "orgs", "set", org, "--max-numbers", "0")
	wantText(t, out, "at most 1000")

	first := admin(t, env, "keys", "create", "ci", "--org", org, "--expires-in", "90d")
	works("a new key", first.APIKey, true)
	next := admin(t, env, "keys", "rotate", first.Key.ID, "--org", org, "--overlap", "1h")
	works("the old key", first.APIKey, true)
	works("the new key", next.APIKey, true)
	if r := next.Replaces; r.ID != first.Key.ID || r.ReplacedBy != next.Key.ID || r.Status != "rotated" || r.ExpiresAt == nil || time.Until(*r.ExpiresAt) > time.Hour {
		t.Errorf("the rotation says %+v", next)
	}
	_, errs := run(t, env, 1, "admin", "keys", "rotate", first.Key.ID, "--org", org)
	wantText(t, errs, "rotate its successor, "+next.Key.ID)
	if revoked := admin(t, env, "keys", "revoke", first.Key.ID, "--org", org); revoked.Status != "revoked" {
		t.Errorf("the key is %+v", revoked)
	}
	works("the revoked key", first.APIKey, false)
	works("its successor", next.APIKey, true)
	last := admin(t, env, "keys", "rotate", next.Key.ID, "--org", org, "--overlap", "0")
	works("a key without overlap", next.APIKey, false)
	works("the last key", last.APIKey, true)

	page := admin(t, env, "keys", "list", "--org", org, "--limit", "2")
	rest := admin(t, env, "keys", "list", "--org", org, "--limit", "2", "--cursor", page.Next)
	if len(page.Keys) != 2 || len(rest.Keys) != 1 || rest.Next != "" || rest.Keys[0].Status != "revoked" || page.Keys[1].Status != "expired" {
		t.Errorf("the keys are %+v and %+v", page, rest)
	}
	secret := admin(t, env, "webhook-secret", "rotate", org, "--overlap", "7d")
	if secret.Secret == made.Secret || secret.Organization.PreviousEnds == nil {
		t.Errorf("the secret is rotated to %+v", secret)
	}
	_, errs = run(t, env, 1, "admin", "webhook-secret", "rotate", org)
	wantText(t, errs, "or rotate without an overlap")
	run(t, env, 0, "admin", "webhook-secret", "rotate", org, "--overlap", "0")
}

func TestAdmin(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	walkAdmin(t, d.access(), map[string]string{"CALLWRIGHT_DATA": d.data})
}

func TestAdminOnPostgres(t *testing.T) {
	t.Parallel()
	address := pgtest.DSN(t)
	d := deployOn(t, t.TempDir(), address)
	key, err := os.ReadFile(masterkey.File(d.data))
	if err != nil {
		t.Fatal(err)
	}
	walkAdmin(t, d.access(), map[string]string{"CALLWRIGHT_DATABASE_URL": address, "CALLWRIGHT_SECRET_KEY": string(key)})
}

// TestAdminShowsSecretsOnce checks that the commands that create secrets print them, that later commands print none, and that the database
// stores none in plain text.
func TestAdminShowsSecretsOnce(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	env := map[string]string{"CALLWRIGHT_DATA": d.data}
	out, _ := run(t, env, 0, "admin", "orgs", "create", "Acme", "--id", "acme")
	if strings.Count(out, "whsec_") != 1 {
		t.Errorf("the secret is not shown once: %s", out)
	}
	out, _ = run(t, env, 0, "admin", "keys", "create", "ci", "--org", "acme")
	key := out[strings.LastIndex(out, "cwk_"):]
	key, _, _ = strings.Cut(key, " ")
	if p, err := d.access().CheckKey(t.Context(), key); err != nil || p.KeyName != "ci" {
		t.Fatalf("the key of %s is not good: %v", out, err)
	}
	id := admin(t, env, "keys", "list", "--org", "acme").Keys[0].ID
	for _, args := range [][]string{
		{"orgs", "list"}, {"orgs", "show", "acme"}, {"orgs", "set", "acme", "--name", "A"}, {"keys", "list", "--org", "acme"},
		{"keys", "revoke", id, "--org", "acme"},
	} {
		for _, args := range [][]string{args, append([]string{"--json"}, args...)} {
			out, _ := run(t, env, 0, append([]string{"admin"}, args...)...)
			if strings.Contains(out, "whsec_") || strings.Contains(out, key) {
				t.Errorf("%v shows a secret: %s", args, out)
			}
		}
	}
	raw, err := os.ReadFile(filepath.Join(d.data, "callwright.db-wal"))
	if err != nil || strings.Contains(string(raw), key) || strings.Contains(string(raw), "whsec_") {
		t.Errorf("the database holds a secret: %v", err)
	}
}

// TestAdminEscapes checks that the commands escape stored names that contain control sequences for terminals.
func TestAdminEscapes(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	env := map[string]string{"CALLWRIGHT_DATA": d.data}
	const name = "A\x1b]0;title\x07\u202eb\nc"
	tenants := orgstore.Tenants{DB: d.db}
	err := errors.Join(
		tenants.InsertOrganization(t.Context(), callwright.Organization{ID: "acme", Name: name, ContactEmail: name}),
		tenants.InsertKey(t.Context(), callwright.APIKey{ID: "k", Org: "acme", Name: name, Prefix: "cwk_a", Hash: []byte{1}}))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"orgs", "list"}, {"orgs", "show", "acme"}, {"keys", "list", "--org", "acme"}} {
		for _, args := range [][]string{args, append([]string{"--json"}, args...)} {
			out, _ := run(t, env, 0, append([]string{"admin"}, args...)...)
			if strings.ContainsFunc(strings.ReplaceAll(out, "\n", ""), callwright.Hidden) || !strings.Contains(out, `\u202eb`) {
				t.Errorf("%v prints %q", args, out)
			}
		}
	}
}

func TestAdminRefuses(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	env := map[string]string{"CALLWRIGHT_DATA": d.data}
	admin(t, env, "orgs", "create", "Acme", "--id", "acme")
	admin(t, env, "orgs", "create", "Other", "--id", "other")
	id := admin(t, env, "keys", "create", "ci", "--org", "acme").Key.ID
	for _, test := range []struct {
		code int
		want string
		args []string
	}{
		{1, "the organization acme already exists: choose another id", []string{"orgs", "create", "Again", "--id", "acme"}},
		{1, "name: must have at most 100", []string{"orgs", "create", strings.Repeat("n", 101)}},
		{1, "name: must be one line of valid UTF-8", []string{"orgs", "create", "a\x1bb"}},
		{1, "id: must have 1 to 64", []string{"orgs", "create", "A", "--id", "a b"}},
		{2, "unknown entitlement SPI", []string{"orgs", "create", "A", "--grant", "SPI"}},
		{1, "organization not found", []string{"orgs", "show", "absent"}},
		{1, "contact_email: ", []string{"orgs", "set", "acme", "--contact", "noc"}},
		{1, "--max-numbers: must be from 1", []string{"orgs", "set", "acme", "--max-numbers", "-1"}},
		{2, "set --name or --contact", []string{"orgs", "set", "acme"}},
		{2, "--org is required", []string{"keys", "list"}},
		{1, "organization not found", []string{"keys", "list", "--org", "absent"}},
		{1, "organization not found", []string{"keys", "create", "ci", "--org", "absent"}},
		{1, "name: must not be empty", []string{"keys", "create", " ", "--org", "acme"}},
		{2, "--expires-in must be", []string{"keys", "create", "ci", "--org", "acme", "--expires-in", "3651d"}},
		{2, "must be a duration such as", []string{"keys", "create", "ci", "--org", "acme", "--expires-in", "-1h"}},
		{2, "must be a duration such as", []string{"keys", "create", "ci", "--org", "acme", "--expires-in", "99999999999d"}},
		{1, "API key not found", []string{"keys", "revoke", id, "--org", "other"}},
		{1, "API key not found", []string{"keys", "rotate", id, "--org", "other"}},
		{1, "API key not found", []string{"keys", "rotate", id, "--org", "absent"}},
		{2, "--overlap must be", []string{"keys", "rotate", id, "--org", "acme", "--overlap", "31d"}},
		{2, "not the key itself", []string{"keys", "revoke", "cwk_" + strings.Repeat("a", 44), "--org", "acme"}},
		{2, "--overlap must be", []string{"webhook-secret", "rotate", "acme", "--overlap", "721h"}},
		{2, "limit: must be from 1", []string{"orgs", "list", "--limit", "1001"}},
		{2, "cursor: must be", []string{"orgs", "list", "--cursor", "x"}},
		{2, "unknown command admin dance", []string{"dance"}},
		{2, "unknown command admin keys steal", []string{"keys", "steal"}},
	} {
		_, errs := run(t, env, test.code, append([]string{"admin"}, test.args...)...)
		wantText(t, errs, test.want)
	}
	if keys := admin(t, env, "keys", "list", "--org", "acme").Keys; len(keys) != 1 || keys[0].Status != "active" {
		t.Errorf("the keys are %+v", keys)
	}
}

// TestAdminWrongKey checks that a command with another master key fails before it stores anything.
func TestAdminWrongKey(t *testing.T) {
	t.Parallel()
	d := deploy(t)
	env := map[string]string{"CALLWRIGHT_DATA": d.data}
	admin(t, env, "orgs", "create", "Acme")
	wrong := map[string]string{"CALLWRIGHT_DATA": d.data, "CALLWRIGHT_SECRET_KEY": masterkey.New(d.data).Text().Reveal()}
	for _, args := range [][]string{{"orgs", "create", "Other"}, {"orgs", "list"}} {
		_, errs := run(t, wrong, 2, append([]string{"admin"}, args...)...)
		wantText(t, errs, "not the key with which this database was created")
	}
	if list := admin(t, env, "orgs", "list"); len(list.Organizations) != 1 {
		t.Errorf("the organizations are %+v", list)
	}
	_, errs := run(t, nil, 2, "admin", "orgs", "list", "--data", filepath.Join(d.data, "absent"))
	wantText(t, errs, "name the data folder")
}
