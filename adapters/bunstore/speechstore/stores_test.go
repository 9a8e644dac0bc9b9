package speechstore_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/speechstore"
	"github.com/callwright/callwright/speech"
	"github.com/callwright/callwright/speech/speechtest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// TestMembersOfVoices fails for a member of a voice's document that is not listed with the reason why it may be stored in plain text.
func TestMembersOfVoices(t *testing.T) {
	t.Parallel()
	storetest.CheckMembers(t, "voice", speechstore.VoiceType, map[storetest.Why]string{
		storetest.Key: "created_by", storetest.Label: "name description tags[]", storetest.State: "kind", storetest.Setting: "service base language",
	})
}

func TestVoices(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		speechtest.RunVoices(t, func(t *testing.T) (speech.Voices, callwright.Atomic) {
			t.Helper()
			db := open(t)
			return speechstore.Voices{DB: db}, db
		})
	})
}

func TestSamples(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		speechtest.RunSamples(t, func(t *testing.T) (speech.Samples, callwright.Atomic) {
			t.Helper()
			db := open(t)
			return speechstore.Samples{DB: db}, db
		})
	})
}

var update = flag.Bool("update", false, "write the files in testdata anew")

// TestVoiceDocumentKeepsItsNames fails if a member of the stored JSON is renamed, because documents of earlier releases could then not be
// read without a migration. After adding a member, run the test with -update to update the file in testdata.
func TestVoiceDocumentKeepsItsNames(t *testing.T) {
	t.Parallel()
	got, err := speechstore.VoiceDocument(speechtest.FullVoice("v1"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "voice.json")
	if *update {
		if err := os.WriteFile(path, append(got, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != string(got)+"\n" {
		t.Errorf("what is stored is not as in %s (%v):\n%s", path, err, got)
	}
}

// use calls all methods of Voices and Samples, and returns their errors.
func use(ctx context.Context, db *bunstore.DB, now time.Time) (errs []error) {
	voices, samples := speechstore.Voices{DB: db}, speechstore.Samples{DB: db}
	note := func(err error) { errs = append(errs, err) }
	v := speech.Voice{ID: "v1", Org: "a", Name: "Kim", CreatedAt: now, Version: 1}
	note(voices.InsertVoice(ctx, v))
	note(voices.InsertVoice(ctx, v))
	v.Version = 2
	note(voices.UpdateVoice(ctx, v))
	note(voices.UpdateVoice(ctx, v))
	_, err := voices.VoiceByKey(ctx, "a", "kim")
	note(err)
	_, err = voices.VoicesOf(ctx, "a", 100)
	note(err)
	note(voices.DeleteVoice(ctx, "a", "v1"))
	note(samples.InsertSample(ctx, speech.Sample{ID: "s1", Org: "a", Voice: "v1", CreatedAt: now}))
	_, err = samples.Sample(ctx, "a", "s1")
	note(err)
	_, err = samples.SampleByKey(ctx, "a", "k", now)
	note(err)
	for _, voice := range []string{"", "v1"} {
		_, _, err = samples.ListSamples(ctx, "a", voice, 10, 0)
		note(err)
	}
	_, err = samples.BlobUsed(ctx, "a", "b")
	note(err)
	note(samples.DeleteSample(ctx, "a", "s1"))
	_, err = samples.DeleteSamples(ctx, now.Add(time.Second), 10)
	note(err)
	return errs
}

func TestEveryStatementUsesAnIndex(t *testing.T) {
	t.Parallel()
	storetest.UsesIndexes(t, use)
}

// TestRefusesText passes texts that PostgreSQL cannot store to the methods of both stores: they return CodeBadRequest.
func TestRefusesText(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		voices, samples := speechstore.Voices{DB: db}, speechstore.Samples{DB: db}
		for _, bad := range []string{"a\x00b", "a\xffb"} {
			_, byID := voices.Voice(t.Context(), "a", bad)
			_, byKey := samples.SampleByKey(t.Context(), "a", bad, time.Time{})
			_, _, listed := samples.ListSamples(t.Context(), "a", bad, 10, 0)
			_, used := samples.BlobUsed(t.Context(), "a", bad)
			for way, err := range map[string]error{
				"voice": voices.InsertVoice(t.Context(), speech.Voice{ID: "v", Name: bad}), "update": voices.UpdateVoice(t.Context(), speech.Voice{Tags: []string{bad}}),
				"sample": samples.InsertSample(t.Context(), speech.Sample{ID: "s", Text: bad}), "id": byID, "key": byKey, "list": listed, "blob": used,
			} {
				if callwright.CodeOf(err) != callwright.CodeBadRequest {
					t.Errorf("%s with %q gave %v", way, bad, err)
				}
			}
		}
	})
}

// fill stores count samples for each of orgs organizations, which have two voices each.
func fill(t testing.TB, db *bunstore.DB, orgs, count int) speechstore.Samples {
	t.Helper()
	start := time.Date(2026, 5, 4, 3, 0, 0, 0, time.UTC)
	s, all := speechstore.Samples{DB: db}, make([]speech.Sample, orgs*count)
	for i := range all {
		id := fmt.Sprintf("01932c20-1c32-7a21-8b63-%012d", i)
		all[i] = speech.Sample{
			ID: id, Org: callwright.OrgID('a' + rune(i%orgs)), User: "key_1", Text: strings.Repeat("Good morning. ", 8), Voice: fmt.Sprint("v", i/orgs%2), Language: "en-US",
			Format: speech.PCM44100, Key: "digest of " + id, Blob: "blob of " + id, Bytes: 100_000, CreatedAt: start.Add(time.Duration(i) * time.Second),
		}
	}
	if err := s.FillSamples(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	statement := "ANALYZE"
	if db.PostgresDSN() != "" {
		statement = "VACUUM (PARALLEL 0, ANALYZE) speech_samples" // records which rows are visible to all transactions, as autovacuum does
	}
	if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	return s
}

// walks matches query plans that read the ids of a page from an index, in the order of the page. PostgreSQL chooses the index by its
// statistics about visible rows, which depend on the load of the machine.
var walks = regexp.MustCompile(`COVERING INDEX speech_samples_by_(org|voice)|Limit [^\n]*\n *->  Index (Only )?Scan Backward using speech_samples_by_`)

// TestListsWalkAnIndex checks that the page of a list comes from an index, and the total from the table of counts.
func TestListsWalkAnIndex(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		s := fill(t, db, 5, 2000)
		for _, voice := range []string{"", "v1"} {
			statements := storetest.Statements(t, db, func() error {
				list, total, err := s.ListSamples(t.Context(), "a", voice, 10, 50)
				if want := map[string]int{"": 2000, "v1": 1000}[voice]; len(list) != 10 || total != want {
					t.Errorf("%d of %d samples", len(list), total)
				}
				return err
			})
			if len(statements) != 2 || strings.Contains(strings.Join(statements, ""), "count(") {
				t.Errorf("a page takes %q", statements)
			}
			for _, statement := range statements {
				plan := storetest.Explain(t, db, statement, true)
				if strings.Contains(statement, "OFFSET") && !walks.MatchString(plan) {
					t.Errorf("does not walk along an index: %s\n%s", statement, plan)
				}
			}
		}
	})
}

// BenchmarkListSamples reads pages at the beginning of a list and after 1,000 and 1,000,000 samples.
func BenchmarkListSamples(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			s := fill(b, storetest.Open(b, storetest.Databases[name](b)), 1, 1_000_100)
			for _, offset := range []int{0, 1000, 1_000_000} {
				b.Run(fmt.Sprint(offset), func(b *testing.B) {
					for b.Loop() {
						if list, _, err := s.ListSamples(b.Context(), "a", "", 100, offset); err != nil || len(list) != 100 {
							b.Fatal(len(list), err)
						}
					}
				})
			}
		})
	}
}
