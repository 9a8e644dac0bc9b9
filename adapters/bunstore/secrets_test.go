package bunstore_test

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/sip"
)

var kept24h = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

// secrets is all that must not be read in a database, whatever holds it.
var secrets = []string{"hunter2-webhook", "hunter2-call", "hunter2-register", "hunter2-answer", "hunter2-digest"}

// secretTrunk is a trunk with passwords.
func secretTrunk(id string, number callwright.PhoneNumber) sip.Trunk {
	trunk := sip.Trunk{ID: id, Org: "o", Number: number, Direction: sip.Outbound, Version: 1}
	trunk.Options.Call = sip.Credentials{Username: "alice", Password: "hunter2-call"}
	trunk.Options.Register = sip.Credentials{Username: "bob", Password: "hunter2-register"}
	return trunk
}

// keepSecrets stores every secret that there is, in all the ways to store it.
func keepSecrets(t *testing.T, db *bunstore.DB) {
	t.Helper()
	secretive := organization("o")
	secretive.WebhookSecret = "hunter2-webhook"
	trunk := secretTrunk("t1", "+15550000001")
	trunks, tenants := bunstore.Trunks{DB: db}, bunstore.Tenants{DB: db}
	keep := func(since time.Time) error {
		answers := bunstore.Answers{DB: db}
		return answers.Keep(t.Context(), "o", "k", []byte("hunter2-digest"), []byte("hunter2-answer"), since, kept24h)
	}
	for _, err := range []error{
		tenants.InsertOrganization(t.Context(), secretive), tenants.UpdateOrganization(t.Context(), secretive),
		trunks.Insert(t.Context(), trunk), trunks.Insert(t.Context(), secretTrunk("t2", "+15550000002")),
		trunks.Update(t.Context(), trunk),
		bunstore.Statuses{DB: db}.PutStatus(t.Context(), sip.Status{TrunkID: "t1", Org: "o", Number: trunk.Number}),
		bunstore.Registrations{DB: db}.PutRegistration(t.Context(), sip.Registration{TrunkID: "t1", Org: "o"}),
		keep(kept24h), keep(kept24h.Add(time.Second)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestSecretsAreSealed reads every column of every table.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		keepSecrets(t, db)
		var all strings.Builder
		for _, c := range columns(t, db) {
			all.WriteString(dump(t, db, c.table, c.name) + "\n")
		}
		for _, secret := range append(secrets, "hunter2") {
			if strings.Contains(all.String(), secret) || strings.Contains(all.String(), hex.EncodeToString([]byte(secret))) {
				t.Errorf("the database holds %s", secret)
			}
		}
		for table, column := range map[string]string{"organizations": "webhook_secret", "trunks": "register_password"} {
			if sealed := dump(t, db, table, column); !strings.HasPrefix(sealed, "k1:") {
				t.Errorf("%s.%s holds %s", table, column, sealed)
			}
		}
	})
}

// TestFileHoldsNoSecret reads the file and its companions.
func TestFileHoldsNoSecret(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	keepSecrets(t, open(t, "sqlite:"+filepath.Join(folder, "secret.db")))
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

// TestMovedSecretDoesNotOpen moves a sealed password to another trunk, and to another use.
func TestMovedSecretDoesNotOpen(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		for to, from := range map[string]string{
			"call_password":     "SELECT call_password FROM trunks WHERE id = 't1'",
			"register_password": "SELECT call_password FROM trunks WHERE id = 't2'",
		} {
			db := open(t)
			keepSecrets(t, db)
			_, err := db.SQL().ExecContext(t.Context(), "UPDATE trunks SET "+to+" = ("+from+") WHERE id = 't2'")
			if err != nil {
				t.Fatal(err)
			}
			_, err = bunstore.Trunks{DB: db}.Owner(t.Context(), "+15550000002", sip.Outbound)
			if callwright.CodeOf(err) != callwright.CodeInternal || strings.Contains(callwright.MessageOf(err), "key") {
				t.Errorf("another's %s gave %v", to, err)
			}
		}
	})
}

// TestOtherKeyring opens a database without the key that sealed what is in it.
func TestOtherKeyring(t *testing.T) {
	t.Parallel()
	at := databases["sqlite"](t)
	keepSecrets(t, open(t, at))
	db, err := bunstore.Open(t.Context(), at, bunstore.Config{Keyring: keyring(t, "k2")})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, orgErr := bunstore.Tenants{DB: db}.Organization(t.Context(), "o")
	_, trunkErr := bunstore.Trunks{DB: db}.Trunk(t.Context(), "o", "t1")
	for _, err := range []error{orgErr, trunkErr} {
		if callwright.CodeOf(err) != callwright.CodeInternal {
			t.Errorf("got %v", err)
		}
	}
}

// TestUnreadableAnswerIsAbsent: one that was kept before answers were sealed, one of another key's, and one of another
// request's.
func TestUnreadableAnswerIsAbsent(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		for name, ruin := range map[string]string{
			"unsealed": `UPDATE answers SET digest = 'abc', answer = '{"data":null}'`,
			"no key":   `UPDATE answers SET answer = 'k9:AAAA'`,
			"moved":    `UPDATE answers SET digest = answer`,
		} {
			db := open(t)
			keepSecrets(t, db)
			if _, err := db.SQL().ExecContext(t.Context(), ruin); err != nil {
				t.Fatal(err)
			}
			answers := bunstore.Answers{DB: db}
			if _, _, err := answers.Find(t.Context(), "o", "k", kept24h); !errors.Is(err, callwright.ErrNotFound) {
				t.Errorf("%s: found with %v, want not found", name, err)
			}
			again := func(text string) error {
				return db.Do(t.Context(), func(ctx context.Context) error {
					return answers.Keep(ctx, "o", "k", []byte("d"), []byte(text), kept24h, kept24h)
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
