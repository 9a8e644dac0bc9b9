package server

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/transport/oas/triageoas"
)

// OpenIssue creates an issue and returns its id.
func (s *Server) OpenIssue(t testing.TB, title string) string {
	t.Helper()
	answer, err := s.API.CreateIssue(t.Context(), &triageoas.TriageIssueCreate{Title: title})
	if err != nil {
		t.Fatalf("opening an issue: %v", err)
	}
	return answer.Data.ID
}

// Comment adds a comment to an issue.
func (s *Server) Comment(t testing.TB, issue, text string) {
	t.Helper()
	_, err := s.API.AddIssueComment(t.Context(), &triageoas.TriageCommentCreate{Detail: text}, triageoas.AddIssueCommentParams{ID: issue})
	if err != nil {
		t.Fatalf("commenting: %v", err)
	}
}

// Issues returns the first page of issues, oldest first.
func (s *Server) Issues(t testing.TB) []triageoas.TriageIssue {
	t.Helper()
	answer, err := s.API.ListIssues(t.Context(), triageoas.ListIssuesParams{
		Sort: triageoas.NewOptListIssuesSort(triageoas.ListIssuesSortCreatedAt), Order: triageoas.NewOptListIssuesOrder(triageoas.ListIssuesOrderAsc),
	})
	if err != nil {
		t.Fatalf("listing issues: %v", err)
	}
	return answer.Data.Items
}

// Activity returns the whole feed of an issue, oldest entry first. It reads pages of three entries, which also tests the paging.
func (s *Server) Activity(t testing.TB, issue string) (entries []FeedEntry) {
	t.Helper()
	params := triageoas.GetIssueActivityParams{ID: issue, Limit: triageoas.NewOptInt(3)}
	for {
		answer, err := s.API.GetIssueActivity(t.Context(), params)
		if err != nil {
			t.Fatalf("reading the feed: %v", err)
		}
		for _, item := range answer.Data.Items {
			text, err := item.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			entries = append([]FeedEntry{feedEntry(t, text)}, entries...)
		}
		if answer.Data.NextCursor.Null {
			return entries
		}
		params.Cursor.SetTo(answer.Data.NextCursor.Value)
	}
}

// ActivityUntil waits until the newest entry in the feed of an issue has the given type, and returns the feed, oldest entry first.
func (s *Server) ActivityUntil(t testing.TB, issue, last string) (entries []FeedEntry) {
	t.Helper()
	await.That(t, "the feed to end with "+last, func() bool {
		entries = s.Activity(t, issue)
		return len(entries) > 0 && entries[len(entries)-1].Type == last
	})
	return entries
}

// FeedEntry contains the fields of a feed entry that tests check.
type FeedEntry struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Detail string `json:"detail"`
	Actor  struct {
		Kind  string `json:"kind"`
		Label string `json:"label"`
	} `json:"actor"`
	Metadata     map[string]any `json:"metadata"`
	AgentSession *struct {
		ID     string `json:"id"`
		Status string `json:"status"`
	} `json:"agent_session"`
	Artifact *struct {
		Type    string          `json:"type"`
		Payload json.RawMessage `json:"payload"`
	} `json:"artifact"`
	Resources []struct {
		ResourceID string `json:"resource_id"`
	} `json:"resources"`
}

func feedEntry(t testing.TB, text []byte) (e FeedEntry) {
	t.Helper()
	if err := json.Unmarshal(text, &e); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// Stream is an open event stream of an issue's feed.
type Stream struct {
	Entries <-chan FeedEntry // closed when the stream ends
	last    chan string      // receives the id of the last event when the stream has ended
	leave   context.CancelFunc
}

// Stream opens the event stream of an issue's feed and waits until the stream has begun. The argument after is the id of the event after
// which the stream begins. If it is empty, the stream begins at the first event.
func (s *Server) Stream(t testing.TB, issue, after string) *Stream {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/v1/triage/issues/"+issue+"/activity/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Key)
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	res, err := http.DefaultClient.Do(req) //nolint:bodyclose // the goroutine below closes it
	if err != nil {
		t.Fatalf("opening the stream: %v", err)
	}
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20)
	if res.StatusCode != http.StatusOK || !lines.Scan() || !strings.HasPrefix(lines.Text(), ":") {
		t.Fatalf("the stream answers %d, and begins with %q", res.StatusCode, lines.Text())
	}
	entries, last := make(chan FeedEntry, 1000), make(chan string, 1)
	go func() {
		defer res.Body.Close()
		defer close(entries)
		var id string
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				id = text
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				var e FeedEntry
				if err := json.Unmarshal([]byte(text), &e); err != nil {
					t.Errorf("%s: %v", text, err)
				}
				entries <- e
			}
		}
		last <- id
	}()
	t.Cleanup(leave)
	return &Stream{Entries: entries, last: last, leave: leave}
}

// Close closes the stream and returns the id of its last event.
func (s *Stream) Close() string {
	s.leave()
	return <-s.last
}
