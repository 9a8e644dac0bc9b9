package agentstest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/pathway"
	"github.com/callwright/callwright/agents/pathway/graph"
)

// PathwayStores contains the stores of a pathway.Service, and the Service's ports for transactions and durable work.
type PathwayStores struct {
	Pathways pathway.Store
	Chats    pathway.Chats
	Atomic   callwright.Atomic
	Work     callwright.Work
}

// RunPathwayCrowd tests a pathway.Service over its stores under concurrent operations and overlapping transactions. Every operation must
// happen exactly once and completely, or be refused. newStores returns empty stores.
func RunPathwayCrowd(t *testing.T, newStores func(t *testing.T) PathwayStores) {
	t.Helper()
	tests := map[string]func(*testing.T, func(*testing.T) PathwayStores){
		"takes one turn of a chat at a time":       racesForATurn,
		"keeps edits of several people":            updatesTogether,
		"numbers versions that are saved together": savesTogether,
		"publishes for one of two":                 publishesForOne,
		"settles and publishes":                    settlesAndPublishes,
		"archives or publishes":                    discardsOrPublishes,
		"stays whole while people do all of it":    runConcurrentEditors,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newStores)
		})
	}
}

// pathwayFixture is a pathway.Service over the given stores, with its fakes. A test may replace Gate.
type pathwayFixture struct {
	*pathway.Service
	Gate     pathway.Gate
	stores   PathwayStores
	gate     *Gate
	requests *Requests
}

func newBusy(t *testing.T, stores PathwayStores) *pathwayFixture {
	t.Helper()
	b := &pathwayFixture{stores: stores, gate: &Gate{}, requests: &Requests{}}
	b.Gate = b.gate
	s, err := pathway.New(pathway.Config{
		Store: stores.Pathways, Chats: stores.Chats, Atomic: stores.Atomic, Work: stores.Work, Gate: swappableGate{b},
		Interpreter: &pathway.Interpreter{Model: &Model{}, Requests: b.requests},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.Service = s
	return b
}

// swappableGate passes checks to the fixture's current Gate.
type swappableGate struct{ b *pathwayFixture }

func (d swappableGate) Check(ctx context.Context, org callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	return d.b.Gate.Check(ctx, org, c)
}

// create stores a pathway with a draft. The fake gate requires a test of the pathway's versions.
func (b *pathwayFixture) create(t *testing.T, d graph.Document) pathway.Pathway {
	t.Helper()
	p, err := b.Create(t.Context(), "a", pathway.Draft{Name: "Days", Document: d})
	if err != nil {
		t.Fatal(err)
	}
	b.gate.Require("a", p.ID)
	return p
}

func (b *pathwayFixture) storeVersion(t *testing.T, id string, d graph.Document) pathway.Version {
	t.Helper()
	v, err := b.StoreVersion(t.Context(), "a", id, "V", d)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func (b *pathwayFixture) get(t *testing.T, id string) pathway.Pathway {
	t.Helper()
	p, err := b.Get(t.Context(), "a", id)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (b *pathwayFixture) say(t *testing.T, chat pathway.Chat, text string) pathway.ChatTurn {
	t.Helper()
	turn, err := b.Say(t.Context(), "a", chat.ID, text)
	if err != nil {
		t.Fatal(err)
	}
	return turn
}

func (b *pathwayFixture) chat(t *testing.T, id string) pathway.Chat {
	t.Helper()
	turn, err := b.StartChat(t.Context(), "a", pathway.ChatRequest{Pathway: id})
	if err != nil {
		t.Fatal(err)
	}
	return turn.Chat
}

// saying returns a graph of one node that says the given text. The text must need no JSON escapes.
func saying(text string) graph.Document {
	return graph.Document{Nodes: raws(`{"id":"say","type":"Default","data":{"name":"Say","isStart":true,"text":"` + text + `"}}`)}
}

// hooking returns a graph that calls a webhook after the caller's first words.
func hooking() graph.Document {
	return graph.Document{
		Nodes: raws(
			`{"id":"ask","type":"Wait for Response","data":{"isStart":true}}`,
			`{"id":"hook","type":"Webhook","data":{"name":"Hook","url":"https://x.example/","method":"POST","body":"{}"}}`,
			`{"id":"done","type":"Default","data":{"name":"Done","text":"It is done."}}`,
		),
		Edges: raws(
			`{"id":"e1","source":"ask","target":"hook","data":{"alwaysPick":true}}`,
			`{"id":"e2","source":"hook","target":"done","data":{"alwaysPick":true}}`,
		),
	}
}

// together runs the given functions concurrently and checks that all of them succeed.
func together(t *testing.T, things ...func() error) {
	t.Helper()
	if err := errors.Join(atOnce(things...)...); err != nil {
		t.Error(err)
	}
}

// atOnce runs the given functions concurrently and returns their errors in the order of the functions.
func atOnce(things ...func() error) []error {
	errs := make([]error, len(things))
	var wait sync.WaitGroup
	for i, do := range things {
		wait.Go(func() { errs[i] = do() })
	}
	wait.Wait()
	return errs
}

func racesForATurn(t *testing.T, newStores func(*testing.T) PathwayStores) {
	b := newBusy(t, newStores(t))
	chat := b.chat(t, b.create(t, hooking()).ID)
	var says []func() error
	for range 8 {
		says = append(says, func() error { _, err := b.Say(t.Context(), "a", chat.ID, "Go."); return err })
	}
	took := 0
	for _, err := range atOnce(says...) {
		if took++; err != nil {
			took--
			if callwright.CodeOf(err) != callwright.CodeConflict {
				t.Errorf("one who came late: %v", err)
			}
		}
	}
	got := b.say(t, chat, "Stop.")
	if took == 0 || len(b.requests.Made()) != 1 || got.State.Turn != took+2 {
		t.Errorf("%d turns were taken, %d noted, and the webhook asked %d times", took, got.State.Turn, len(b.requests.Made()))
	}
}

func updatesTogether(t *testing.T, newStores func(*testing.T) PathwayStores) {
	b := newBusy(t, newStores(t))
	p := b.create(t, saying("Hello."))
	name, description := "Weeks", "Asks."
	together(t,
		func() error { _, err := b.Update(t.Context(), "a", p.ID, pathway.Change{Name: &name}); return err },
		func() error {
			_, err := b.Update(t.Context(), "a", p.ID, pathway.Change{Description: &description})
			return err
		},
	)
	if got := b.get(t, p.ID); got.Name != name || got.Description != description {
		t.Errorf("an edit was lost: %+v", got)
	}
}

func savesTogether(t *testing.T, newStores func(*testing.T) PathwayStores) {
	b := newBusy(t, newStores(t))
	p := b.create(t, graph.Document{})
	const savers = 8
	numbers := make([]int, savers)
	var saves []func() error
	for i := range savers {
		saves = append(saves, func() error {
			v, err := b.StoreVersion(t.Context(), "a", p.ID, "V", saying("Hello."))
			numbers[i] = v.Number
			return err
		})
	}
	together(t, saves...)
	if slices.Sort(numbers); !slices.Equal(numbers, []int{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Errorf("got the numbers %v", numbers)
	}
}

// three stores a pathway with three versions. The returned slice is indexed by version number; element 0 is unused.
func (b *pathwayFixture) three(t *testing.T) (pathway.Pathway, []pathway.Version) {
	t.Helper()
	p := b.create(t, graph.Document{})
	versions := make([]pathway.Version, 4) // indexed by version number
	for number := 1; number <= 3; number++ {
		versions[number] = b.storeVersion(t, p.ID, saying(strings.Repeat("?", number)))
	}
	return p, versions
}

// barrier is a gate at which publishers wait for each other, so that all of them have read the same state of the pathway.
type barrier struct {
	state pathway.GateState
	all   *sync.WaitGroup
}

func (m barrier) Check(_ context.Context, _ callwright.OrgID, c pathway.Candidate) (pathway.Verdict, error) {
	if !c.Start {
		m.all.Done()
		m.all.Wait()
	}
	return pathway.Verdict{State: m.state, Batch: "b"}, nil
}

func publishesForOne(t *testing.T, newStores func(*testing.T) PathwayStores) {
	for name, test := range map[string]struct {
		first, second int
		state         pathway.GateState
		conflicts     int
	}{
		"of two versions":                      {1, 2, pathway.GateOpen, 1},
		"of one version":                       {1, 1, pathway.GateOpen, 0},
		"of two versions whose tests run":      {1, 2, pathway.GateRunning, 1},
		"of one version whose tests still run": {1, 1, pathway.GateRunning, 0},
	} {
		b := newBusy(t, newStores(t))
		p, _ := b.three(t)
		var all sync.WaitGroup
		all.Add(2)
		b.Gate = barrier{test.state, &all}
		publish := func(number int) func() error {
			return func() error {
				_, err := b.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: number, OnPass: true})
				return err
			}
		}
		conflicts, won := 0, 0
		for i, err := range atOnce(publish(test.first), publish(test.second)) {
			switch {
			case err == nil:
				won = []int{test.first, test.second}[i]
			case errors.Is(err, callwright.ErrConflict):
				conflicts++
			default:
				t.Errorf("%s: %v", name, err)
			}
		}
		stored := b.get(t, p.ID)
		got := stored.Production
		if stored.Promotion != nil {
			got = stored.Promotion.Number
		}
		if conflicts != test.conflicts || got != won {
			t.Errorf("%s: %d conflicts, and %d has won", name, conflicts, got)
		}
	}
}

// settlesAndPublishes checks two concurrent calls of FinishTests, which promote a tested version, and a concurrent Publish of another
// version. Publish succeeds and its version stays in production, or it returns CodeConflict after the promotion.
func settlesAndPublishes(t *testing.T, newStores func(*testing.T) PathwayStores) {
	b := newBusy(t, newStores(t))
	for range 20 {
		p, versions := b.three(t)
		if _, err := b.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 1, OnPass: true}); err != nil {
			t.Fatal(err)
		}
		b.gate.Finish(versions[1], true)
		b.gate.Finish(versions[2], true)
		settle := func() error { return b.FinishTests(t.Context(), "a", p.ID) }
		errs := atOnce(settle, settle, func() error {
			_, err := b.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: 2})
			return err
		})
		got := b.get(t, p.ID)
		want := 2
		if errs[2] != nil {
			want = 1 // the promotion was first
			if callwright.CodeOf(errs[2]) != callwright.CodeConflict {
				t.Errorf("the publisher: %v", errs[2])
			}
		}
		if errs[0] != nil || errs[1] != nil || got.Promotion != nil || got.Production != want {
			t.Fatalf("%d is in production, %+v is promoted; errors %v", got.Production, got.Promotion, errs)
		}
	}
}

// discardsOrPublishes checks that exactly one of a concurrent Discard and Publish of the same version succeeds.
func discardsOrPublishes(t *testing.T, newStores func(*testing.T) PathwayStores) {
	b := newBusy(t, newStores(t))
	b.Gate = &Gate{} // requires no tests
	for range 20 {
		p := b.create(t, graph.Document{})
		v := b.storeVersion(t, p.ID, saying("Hello."))
		errs := atOnce(
			func() error { return b.Discard(t.Context(), "a", p.ID, v.Number) },
			func() error {
				_, err := b.Publish(t.Context(), "a", p.ID, pathway.Publication{Number: v.Number})
				return err
			},
		)
		published := b.get(t, p.ID).Production == v.Number
		_, _, err := b.Version(t.Context(), "a", p.ID, v.Number)
		if archived := errors.Is(err, callwright.ErrNotFound); published == archived || (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("published %t, archived %t; errors %v", published, archived, errs)
		}
	}
}
