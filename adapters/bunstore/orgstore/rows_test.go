package orgstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/sqldb"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
)

// TestOldAnswersAreForgotten checks that storing answers deletes expired ones, so that the table does not grow without limit.
func TestOldAnswersAreForgotten(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		answers := orgstore.IdempotencyStore{DB: db}
		at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
		keep := func(key string, since time.Time, at time.Time) {
			t.Helper()
			if err := answers.StoreAnswer(t.Context(), "o", key, nil, []byte(key), since, at); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 30 {
			keep(fmt.Sprint("old ", i), at.Add(-time.Hour), at)
		}
		later := at.Add(time.Hour)
		keep("new 1", at, later)
		if _, answer, err := answers.Find(t.Context(), "o", "old 0", at); err != nil || string(answer) != "old 0" {
			t.Errorf("an answer that still counts gave %q, %v", answer, err)
		}
		keep("new 2", later, later)
		keep("new 3", later, later)
		if left := storetest.Dump(t, db, "answers", "key"); strings.Contains(left, "old") || strings.Count(left, "new") != 3 {
			t.Errorf("left are %s", left)
		}
		if _, _, err := answers.Find(t.Context(), "o", "old 0", at); !errors.Is(err, callwright.ErrNotFound) {
			t.Errorf("found with %v", err)
		}
	})
}

// TestHeldOrganizationsLoseNoChange changes an organization from several transactions concurrently: HoldOrganization prevents lost updates.
func TestHeldOrganizationsLoseNoChange(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		tenants := orgstore.Tenants{DB: db}
		if err := tenants.InsertOrganization(t.Context(), callwright.Organization{ID: "o"}); err != nil {
			t.Fatal(err)
		}
		const changes = 8
		var all sync.WaitGroup
		for range changes {
			all.Go(func() {
				err := db.Do(t.Context(), func(ctx context.Context) error {
					o, err := tenants.HoldOrganization(ctx, "o")
					if err != nil {
						return err
					}
					o.Name += "x"
					return tenants.UpdateOrganization(ctx, o)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if o, err := tenants.Organization(t.Context(), "o"); err != nil || len(o.Name) != changes {
			t.Errorf("%d changes made the name %q, %v", changes, o.Name, err)
		}
	})
}

// TestRowsBeforeMigration25 opens a database with rows that were stored before migration 25, and checks that they can be read.
func TestRowsBeforeMigration25(t *testing.T) {
	t.Parallel()
	for driver, folder := range map[string]string{"sqlite": "sqlite", "pgx": "postgres"} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			address := storetest.Empty[folder](t)
			source := address
			if folder == "sqlite" {
				source = "file:" + (&url.URL{Path: strings.TrimPrefix(address, "sqlite:")}).EscapedPath()
			}
			raw, err := sql.Open(driver, source)
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			run := func(statement string) {
				t.Helper()
				if _, err := raw.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			run(sqldb.MigrationsTable)
			files, err := filepath.Glob("../migrations/" + folder + "/*.sql")
			if err != nil || len(files) < 25 {
				t.Fatalf("%d migrations, %v", len(files), err)
			}
			for i, file := range files[:24] {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				run(string(text))
				run(fmt.Sprintf("INSERT INTO callwright_migrations VALUES (%d, 'x', '2026-01-01 00:00:00')", i+1))
			}
			sealed := storetest.Keyring(t, "k1").Seal("organization:o:webhook", "whsec_x")
			run("INSERT INTO organizations (id, name, entitlements, webhook_secret, created_at) VALUES ('o', 'Acme', '[\"SIP\"]', '" + sealed + "', '2026-01-01 00:00:00+00:00')")
			run("INSERT INTO api_keys (id, org, name, prefix, hash, created_at) VALUES ('k', 'o', 'ci', 'cwk_abc', 'h', '2026-01-01 00:00:00+00:00')")
			tenants := orgstore.Tenants{DB: storetest.Open(t, address)}
			orgs, err := tenants.Organizations(t.Context(), callwright.Keyset{}, 10)
			if err != nil || len(orgs) != 1 || orgs[0].WebhookSecret != "whsec_x" || orgs[0].PreviousWebhookSecret != "" || orgs[0].PreviousWebhookEnds != nil {
				t.Errorf("the organizations are %+v, %v", orgs, err)
			}
			keys, err := tenants.Keys(t.Context(), "o", callwright.Keyset{}, 10)
			if err != nil || len(keys) != 1 || keys[0].LastUsedAt != nil || keys[0].ReplacedBy != "" || keys[0].Name != "ci" {
				t.Errorf("the keys are %+v, %v", keys, err)
			}
		})
	}
}
