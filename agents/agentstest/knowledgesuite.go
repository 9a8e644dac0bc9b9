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
	"github.com/callwright/callwright/callwrighttest"
)

// KnowledgeHarness is the harness of RunKnowledge. New is required.
type KnowledgeHarness struct {
	// New returns a pathway.Knowledge in which the organization has exactly one knowledge base. Its name is base, and it contains the given
	// passages, which are already indexed. The suite asks for each passage in the passage's words: the first passage that Find returns must
	// be the passage that shares the most words with the question. A found passage may contain further text, such as a title.
	New func(t *testing.T, org callwright.OrgID, base string, passages []string) pathway.Knowledge
}

// The passages of RunKnowledge's knowledge base.
const (
	openingPassage  = "The shop is open from nine in the morning until six in the evening."
	deliveryPassage = "Delivery within the city takes two days and costs five euros."
	returnsPassage  = "Returns are free within thirty days after the delivery."
)

// RunKnowledge tests a pathway.Knowledge.
func RunKnowledge(t *testing.T, h KnowledgeHarness) {
	t.Helper()
	passages := []string{openingPassage, deliveryPassage, returnsPassage}
	for name, test := range map[string]func(*testing.T, pathway.Knowledge){
		"finds the passage that answers":         findsThePassage,
		"gives at most the limit":                findsAtMost,
		"gives no blank passage":                 findsNoBlanks,
		"takes any question":                     takesAnyQuestion,
		"refuses a base that is absent":          refusesAbsentBase,
		"hides other organizations' bases":       hidesBases,
		"ends with its context":                  findEndsWithContext,
		"serves several conversations at a time": findsSideBySide,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, h.New(t, "a", "shop", passages))
		})
	}
}

func find(t *testing.T, k pathway.Knowledge, question string, limit int) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), callwrighttest.ImmediateLimit)
	defer cancel()
	found, err := k.Find(ctx, "a", "shop", question, limit)
	if err != nil {
		t.Fatalf("%.40q gave %v", question, err)
	}
	return found
}

func findsThePassage(t *testing.T, k pathway.Knowledge) {
	for question, want := range map[string]string{
		"When in the morning is the shop open?":                 openingPassage,
		"How many euros does a delivery within the city cost?":  deliveryPassage,
		"Are returns free after thirty days from the delivery?": returnsPassage,
	} {
		if found := find(t, k, question, 3); len(found) == 0 || !strings.Contains(found[0], want) {
			t.Errorf("%q gave %q, want %q first", question, found, want)
		}
	}
}

func findsAtMost(t *testing.T, k pathway.Knowledge) {
	for limit := range 5 {
		if found := find(t, k, "When does the delivery of a shop take days?", limit); len(found) > limit {
			t.Errorf("%d passages, at most %d were wanted", len(found), limit)
		}
	}
}

func findsNoBlanks(t *testing.T, k pathway.Knowledge) {
	for _, passage := range find(t, k, "delivery", 10) {
		if strings.TrimSpace(passage) == "" {
			t.Error("a passage is blank")
		}
	}
}

func takesAnyQuestion(t *testing.T, k pathway.Knowledge) {
	for _, question := range []string{"", "   ", `"; DROP TABLE x --`, "日本語", "\u202e{{name}}", strings.Repeat("word ", 4000)} {
		if found := find(t, k, question, 2); len(found) > 2 {
			t.Errorf("%.20q gave %d passages", question, len(found))
		}
	}
}

func refusesAbsentBase(t *testing.T, k pathway.Knowledge) {
	for _, base := range []string{"", "shops", "SHOP"} {
		if found, err := k.Find(t.Context(), "a", base, "delivery", 3); !errors.Is(err, callwright.ErrNotFound) || len(found) != 0 {
			t.Errorf("%q gave %q, %v; want not found", base, found, err)
		}
	}
}

func hidesBases(t *testing.T, k pathway.Knowledge) {
	if found, err := k.Find(t.Context(), "b", "shop", "delivery", 3); !errors.Is(err, callwright.ErrNotFound) || len(found) != 0 {
		t.Errorf("another organization found %q, %v; want not found", found, err)
	}
}

func findEndsWithContext(t *testing.T, k pathway.Knowledge) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	callwrighttest.Soon(t, "finding with an ended context", func() {
		if found, err := k.Find(ctx, "a", "shop", "delivery", 3); err == nil {
			t.Errorf("with an ended context it found %q", found)
		}
	})
}

func findsSideBySide(t *testing.T, k pathway.Knowledge) {
	const question = "How many euros does a delivery within the city cost?"
	want := find(t, k, question, 3)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if found, err := k.Find(t.Context(), "a", "shop", question, 3); err != nil || !slices.Equal(found, want) {
				t.Errorf("found %q, %v; want %q", found, err, want)
			}
		})
	}
	all.Wait()
}
