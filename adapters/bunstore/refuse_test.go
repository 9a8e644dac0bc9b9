package bunstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore"
	"github.com/callwright/callwright/adapters/bunstore/agentstore"
	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
	"github.com/callwright/callwright/adapters/bunstore/orgstore"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/adapters/bunstore/triagestore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/request"
	"github.com/callwright/callwright/sip"
	"github.com/callwright/callwright/triage"
)

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	config := bunstore.Config{Keyring: storetest.Keyring(t, "k1")}
	for _, address := range []string{
		"", "sqlite:", "sqlite:\x00", "sqlite:/no/such/folder/x.db", "mysql://root:hunter2@127.0.0.1/x",
		"postgres://root:hunter2@127.0.0.1:notaport/x", "postgres://root:hunter2@127.0.0.1:1/x",
	} {
		db, err := bunstore.Open(t.Context(), address, config)
		if err == nil {
			t.Errorf("%q was opened: %v", address, db.Close())
		} else if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: the error shows the password: %v", address, err)
		}
	}
	if _, err := bunstore.Open(t.Context(), "sqlite::memory:", bunstore.Config{}); err == nil {
		t.Error("opened without a keyring")
	}
}

// TestRefusesText passes a text that PostgreSQL cannot store to each method: all refuse it, on both databases.
func TestRefusesText(t *testing.T) {
	t.Parallel()
	const good = "fine"
	at := time.Now()
	ways := map[string]func(ctx context.Context, db *bunstore.DB, bad string) error{
		"organization": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return orgstore.Tenants{DB: db}.InsertOrganization(ctx, callwright.Organization{ID: good, Name: bad})
		},
		"webhook secret": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return orgstore.Tenants{DB: db}.InsertOrganization(ctx,
				callwright.Organization{ID: good, WebhookSecret: callwright.Secret(bad)})
		},
		"key": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return orgstore.Tenants{DB: db}.InsertKey(ctx, callwright.APIKey{ID: good, Name: bad})
		},
		"prefix": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, _, err := orgstore.Tenants{DB: db}.KeyByPrefix(ctx, bad)
			return err
		},
		"answer": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return orgstore.IdempotencyStore{DB: db}.StoreAnswer(ctx, good, bad, nil, nil, at, at)
		},
		"answer's key": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, _, err := orgstore.IdempotencyStore{DB: db}.Find(ctx, good, bad, at)
			return err
		},
		"trunk": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return sipstore.Trunks{DB: db}.Insert(ctx, sip.Trunk{ID: good, Options: sip.Options{Transport: bad}})
		},
		"number": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Numbers{DB: db}.InsertNumber(ctx, agents.InboundNumber{Org: good, Agent: agents.Agent{Task: bad}})
		},
		"call": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Calls{DB: db}.Insert(ctx, call.Call{ID: good, ErrorMessage: bad})
		},
		"ending": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Calls{DB: db}.Update(ctx, call.Call{ID: good, Ending: &call.HangupReason{Reason: bad}})
		},
		"request data": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Calls{DB: db}.Insert(ctx,
				call.Call{ID: good, RequestData: map[string]any{"deep": []any{1, map[string]any{bad: nil}}}})
		},
		"metadata": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Calls{DB: db}.Insert(ctx, call.Call{ID: good, Metadata: map[string]any{"k": bad}})
		},
		"call's id": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, err := agentstore.Calls{DB: db}.Get(ctx, good, bad)
			return err
		},
		"filter": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, _, err := agentstore.Calls{DB: db}.List(ctx, good, call.Filter{From: bad})
			return err
		},
		"transcript": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Calls{DB: db}.Append(ctx, good, good, call.Entry{Seq: 1, Text: bad})
		},
		"notice": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Calls{DB: db}.AppendNotice(ctx, good, good, call.Notice{Seq: 1, Message: bad})
		},
		"filter by pathway": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, _, err := agentstore.Calls{DB: db}.List(ctx, good, call.Filter{Pathway: bad})
			return err
		},
		"header": func(ctx context.Context, db *bunstore.DB, bad string) error {
			data := []agents.DynamicData{{Headers: []request.Pair{{Name: good, Value: bad}}}}
			return agentstore.WebAgents{DB: db}.InsertAgent(ctx, agents.WebAgent{ID: good, Agent: agents.Agent{DynamicData: data}})
		},
		"voice settings": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.WebAgents{DB: db}.UpdateAgent(ctx, agents.WebAgent{Agent: agents.Agent{VoiceSettings: bad}})
		},
		"pathway": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Pathways{DB: db}.InsertPathway(ctx, pathway.Pathway{ID: good, Description: bad})
		},
		"version": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Pathways{DB: db}.InsertVersion(ctx, pathway.Version{Org: good, Pathway: bad})
		},
		"chat": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return agentstore.Chats{DB: db}.UpdateChat(ctx, pathway.Chat{ID: good, State: json.RawMessage(bad)})
		},
		"issue": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return triagestore.Store{DB: db}.InsertIssue(ctx, triage.Issue{ID: good, Description: bad})
		},
		"author": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return triagestore.Store{DB: db}.UpdateIssue(ctx, triage.Issue{ID: good, Author: triage.Actor{Label: bad}})
		},
		"search": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, err := triagestore.Store{DB: db}.FindIssues(ctx, good, triage.Filter{Search: bad})
			return err
		},
		"artifact": func(ctx context.Context, db *bunstore.DB, bad string) error {
			artifact := &triage.Artifact{Payload: json.RawMessage(bad)}
			return triagestore.Store{DB: db}.AppendEntries(ctx, good, good, []triage.Entry{{ID: good, Artifact: artifact}})
		},
		"entry's metadata": func(ctx context.Context, db *bunstore.DB, bad string) error {
			entries := []triage.Entry{{ID: good, Metadata: map[string]any{"deep": []any{bad}}}}
			return triagestore.Store{DB: db}.AppendEntries(ctx, good, good, entries)
		},
		"analysis": func(ctx context.Context, db *bunstore.DB, bad string) error {
			analysis := &triage.Analysis{State: json.RawMessage(bad)}
			return triagestore.Store{DB: db}.UpdateSession(ctx, triage.Session{ID: good, Analysis: analysis})
		},
		"comment": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return triagestore.Store{DB: db}.InsertComment(ctx, triage.Comment{ID: good, Detail: bad})
		},
		"relation": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, err := triagestore.Store{DB: db}.Relation(ctx, good, good, bad)
			return err
		},
		"report": func(ctx context.Context, db *bunstore.DB, bad string) error {
			return triagestore.Store{DB: db}.PointReports(ctx, good, good, bad, good)
		},
		"viewer": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, err := triagestore.Store{DB: db}.Seen(ctx, good, good, []string{bad})
			return err
		},
		"node": func(ctx context.Context, db *bunstore.DB, bad string) error {
			_, err := agentstore.Calls{DB: db}.Stops(ctx, bad)
			return err
		},
	}
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		for name, way := range ways {
			for _, bad := range []string{"a\x00b", "a\xffb", "\xed\xa0\x80"} {
				if err := way(t.Context(), db, bad); !errors.Is(err, callwright.ErrBadRequest) {
					t.Errorf("%s with %q gave %v, want a bad request", name, bad, err)
				}
			}
		}
	})
}

// FuzzText checks that every text is either stored unchanged or refused with CodeBadRequest.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"", "it's", `"\u0000"`, "?", "?0", "\\", "ü\u2028", "a\x00", "\xff", "{}'; --"} {
		f.Add(seed)
	}
	db, err := bunstore.Open(context.Background(), "sqlite::memory:", bunstore.Config{Keyring: storetest.Keyring(f, "k1")})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	calls, ids := agentstore.Calls{DB: db}, &callwright.UUIDs{}
	f.Fuzz(func(t *testing.T, text string) {
		c := call.Call{ID: ids.New(), Org: "o", ErrorMessage: text, Metadata: map[string]any{text: text}}
		err := calls.Insert(t.Context(), c)
		if clean := utf8.ValidString(text) && !strings.Contains(text, "\x00"); !clean {
			if !errors.Is(err, callwright.ErrBadRequest) {
				t.Fatalf("%q gave %v, want a bad request", text, err)
			}
			return
		}
		got, getErr := calls.Get(t.Context(), "o", c.ID)
		if err != nil || getErr != nil || got.ErrorMessage != text || got.Metadata[text] != text {
			t.Fatalf("%q came back as %q and %q: %v, %v", text, got.ErrorMessage, got.Metadata, err, getErr)
		}
	})
}

// TestErrorsShowNothingOfTheDatabase cancels contexts and deletes the tables under the stores: the messages contain no text of the driver.
func TestErrorsShowNothingOfTheDatabase(t *testing.T) {
	t.Parallel()
	storetest.OnEach(t, func(t *testing.T, open func(*testing.T) *bunstore.DB) {
		db := open(t)
		calls := agentstore.Calls{DB: db}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := db.Ping(t.Context()); err != nil {
			t.Errorf("ping: %v", err)
		}
		_, err := calls.Get(ended, "o", "c")
		if !errors.Is(err, callwright.ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("with a context that has ended: %v", err)
		}
		for _, table := range []string{"transcript_entries", "call_logs", "call_notices", "calls"} {
			if _, err := db.SQL().ExecContext(t.Context(), "DROP TABLE "+table); err != nil {
				t.Fatal(err)
			}
		}
		_, getErr := calls.Get(t.Context(), "o", "c")
		_, _, listErr := calls.List(t.Context(), "o", call.Filter{})
		for name, err := range map[string]error{
			"get": getErr, "list": listErr, "insert": calls.Insert(t.Context(), call.Call{ID: "secret"}),
			"update": calls.Update(t.Context(), call.Call{ID: "secret"}),
		} {
			if callwright.CodeOf(err) != callwright.CodeInternal || callwright.MessageOf(err) != callwright.ErrInternal.Message {
				t.Errorf("%s: code %s, message %q", name, callwright.CodeOf(err), callwright.MessageOf(err))
			}
			if errors.Unwrap(err) == nil {
				t.Errorf("%s: no cause for the log", name)
			}
		}
	})
}
