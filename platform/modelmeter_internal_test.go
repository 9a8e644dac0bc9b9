package platform

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/llm"
)

// TestModelMeter checks the metrics of requests that were answered, stopped and refused.
func TestModelMeter(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "prices.json")
	if err := os.WriteFile(file, []byte(`{"currency":"USD","models":{"m":{"input":"1","cached":"0.5","output":"2"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	prices, err := newPrices(Config{LLMPrices: file})
	if err != nil {
		t.Fatal(err)
	}
	meter := newModelMeter(prices)
	m := metered{&agentstest.Model{
		Called: "m", Usage: llm.Usage{Input: 1_000_000, Cached: 1_000_000, Output: 1_000_000},
		Says: func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return agentstest.Texts("a", "b"), nil
		},
		Answers: func(context.Context, llm.Question) (string, error) {
			return "", &llm.Failure{Class: llm.ClassRateLimited, Message: "no"}
		},
	}, meter}
	if _, err := agentstest.Collect(t.Context(), m, llm.ReplyRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, err := range m.Reply(t.Context(), llm.ReplyRequest{}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	if _, err := m.Answer(t.Context(), llm.Question{}); err == nil {
		t.Fatal("the refused question is answered")
	}
	for _, c := range meter.collectors() {
		if problems, err := testutil.CollectAndLint(c); err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	}
	for labels, want := range map[string]float64{"ok": 1, "stopped": 1, "rate_limited": 1} {
		if got := testutil.ToFloat64(meter.requests.WithLabelValues("m", labels)); got != want {
			t.Errorf("%s: %g requests", labels, got)
		}
	}
	if got := testutil.ToFloat64(meter.tokens.WithLabelValues("m", "cached")); got != 1_000_000 {
		t.Errorf("%g cached tokens", got)
	}
	if got := testutil.ToFloat64(meter.cost.WithLabelValues("m")); got != 2.5 {
		t.Errorf("cost %g", got)
	}
}

// TestPrices checks that the table of prices is the built-in one or that of the file, and that an unreadable file is refused.
func TestPrices(t *testing.T) {
	t.Parallel()
	if prices, err := newPrices(Config{}); err != nil || len(prices.Models) == 0 {
		t.Errorf("%d models, %v", len(prices.Models), err)
	}
	file := filepath.Join(t.TempDir(), "prices.json")
	if _, err := newPrices(Config{LLMPrices: file}); err == nil || !strings.HasPrefix(err.Error(), "--llm-prices") {
		t.Errorf("a missing file: %v", err)
	}
	if err := os.WriteFile(file, []byte(`{"currency":"EUR"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newPrices(Config{LLMPrices: file}); err == nil || !strings.Contains(err.Error(), "USD") {
		t.Errorf("another currency: %v", err)
	}
}
