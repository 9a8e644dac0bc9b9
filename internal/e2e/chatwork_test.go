package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/agents/pathway/graph"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/transport/oas/pathwaysoas"
)

// twice returns the pathway of the function counting with a second request in each turn. If both requests hang, a turn lasts twice the
// timeout of a request.
func twice(greeting, system string) graph.Document {
	d := counting(greeting, system)
	d.Nodes = append(d.Nodes, json.RawMessage(fmt.Sprintf(`{"id":"more","type":"Webhook","data":{"name":"More","url":%q,"method":"POST","body":"{}"}}`, system)))
	d.Edges[0] = json.RawMessage(`{"id":"e0","source":"begin","target":"more","data":{"alwaysPick":true}}`)
	d.Edges = append(d.Edges, json.RawMessage(`{"id":"e1","source":"more","target":"count","data":{"alwaysPick":true}}`))
	return d
}

// TestStopDuringTurns stops the server while chats wait for another system. A turn must finish if the system answers in time. Any other
// turn must be interrupted, and its chat must continue after a restart of the server.
func TestStopDuringTurns(t *testing.T) {
	t.Parallel()
	asked, stopping := make(chan struct{}, 10), make(chan struct{})
	brief := counter(t, func(ctx context.Context, _ int) {
		asked <- struct{}{}
		select {
		case <-stopping:
		case <-ctx.Done():
		}
	})
	endless := counter(t, func(ctx context.Context, n int) {
		asked <- struct{}{}
		if n <= 2 {
			<-ctx.Done()
		}
	})
	first := start(t, authority(t).CertFile())
	other := first.Publish(t, counting("Go on.", endless))
	chats := []string{
		first.Chat(t, first.Publish(t, counting("Go on.", brief))).ChatID,
		first.Chat(t, first.Publish(t, twice("Go on.", endless))).ChatID,
	}
	answers, errs := make([]*pathwaysoas.PathwayChatStateReply, len(chats)), make([]error, len(chats))
	var turns sync.WaitGroup
	for i, chat := range chats {
		turns.Go(func() {
			answers[i], errs[i] = first.API.SendPathwayChatMessage(t.Context(), &pathwaysoas.PathwayChatTurn{Message: "One."},
				pathwaysoas.SendPathwayChatMessageParams{ChatID: chat})
		})
	}
	<-asked
	<-asked
	first.Terminate(t)
	await.That(t, "the server to refuse further turns", func() bool {
		_, err := first.API.CreatePathwayChat(t.Context(), &pathwaysoas.PathwayChatCreate{PathwayID: other})
		return status(err) == http.StatusServiceUnavailable
	})
	close(stopping)
	turns.Wait()
	if errs[0] != nil || !slices.Equal(answers[0].Data.AssistantResponses, []string{"That is number 1."}) {
		t.Errorf("a turn that ended in time is answered with %+v, %v", answers[0], errs[0])
	}
	if status(errs[1]) != http.StatusServiceUnavailable {
		t.Errorf("a turn that was broken off is answered with %+v, %v", answers[1], errs[1])
	}
	if code := first.ExitCode(t); code != 0 {
		t.Errorf("the server stopped with exit code %d", code)
	}

	second := server.Start(t, server.Config{Data: first.Data})
	if state := second.Say(t, chats[0], "Two."); len(state.ChatHistory) != 5 {
		t.Errorf("the history is %+v", state.ChatHistory)
	}
	if state := second.Say(t, chats[1], "Two."); len(state.AssistantResponses) != 1 {
		t.Errorf("the turn that was broken off goes on with %+v", state)
	}
}

// TestClientsGo disconnects the clients of a thousand chats that wait for another system. It checks that the server frees all resources
// after the timeout, and that every chat can continue.
func TestClientsGo(t *testing.T) {
	t.Parallel()
	const many, together = 1000, 50
	const slack = 30 // goroutines of connection and worker pools
	var hanging atomic.Int32
	var answering atomic.Bool
	system := counter(t, func(ctx context.Context, _ int) {
		if !answering.Load() {
			hanging.Add(1)
			<-ctx.Done()
		}
	})
	s := start(t, authority(t).CertFile(), "--http-connections-per-address", "2000")
	id := s.Publish(t, counting("Go on.", system))
	chats := make([]string, many)
	var beginning sync.WaitGroup
	for worker := range together {
		beginning.Go(func() {
			for i := worker; i < many; i += together {
				chats[i] = s.Chat(t, id).ChatID
			}
		})
	}
	beginning.Wait()
	s.Say(t, s.Chat(t, id).ChatID, "") // opens the connections that the server keeps open
	goroutines, files := s.Metric(t, "go_goroutines"), s.Metric(t, "process_open_fds")
	ctx, leave := context.WithCancel(t.Context())
	var turns sync.WaitGroup
	for _, chat := range chats {
		turns.Go(func() {
			_, err := s.API.SendPathwayChatMessage(ctx, &pathwaysoas.PathwayChatTurn{Message: "One."}, pathwaysoas.SendPathwayChatMessageParams{ChatID: chat})
			if err == nil {
				t.Error("a turn was answered")
			}
		})
	}
	await.That(t, "all turns to wait", func() bool { return hanging.Load() == many })
	leave()
	turns.Wait()
	ok := await.Within(t.Context(), await.Limit, func() bool {
		return s.Metric(t, "go_goroutines") <= goroutines+slack && s.Metric(t, "process_open_fds") <= files+slack
	})
	t.Logf("goroutines %v, %v before; files %v, %v before", s.Metric(t, "go_goroutines"), goroutines, s.Metric(t, "process_open_fds"), files)
	if !ok {
		t.Error("something is left of the turns")
	}
	answering.Store(true)
	for _, chat := range []string{chats[0], chats[many/2], chats[many-1]} {
		if state := s.Say(t, chat, "Two."); len(state.ChatHistory) < 4 {
			t.Errorf("the history is %+v", state.ChatHistory)
		}
	}
}
