package platform

import (
	"context"
	"fmt"
	"iter"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
)

// newPrices returns the table of prices in the file of --llm-prices, or the built-in table.
func newPrices(c Config) (price.Table, error) {
	if c.LLMPrices == "" {
		return price.Default(), nil
	}
	file, err := os.Open(c.LLMPrices)
	if err != nil {
		return price.Table{}, fmt.Errorf("--llm-prices: %w", err)
	}
	defer func() { _ = file.Close() }()
	prices, err := price.Parse(file)
	if err != nil {
		return price.Table{}, fmt.Errorf("--llm-prices %s: %w", c.LLMPrices, err)
	}
	return prices, nil
}

// modelMeter counts the requests to the services of models, their tokens and their cost.
type modelMeter struct {
	requests, tokens, cost *prometheus.CounterVec
	prices                 price.Table
}

func newModelMeter(prices price.Table) modelMeter {
	vec := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "callwright", Name: name, Help: help}, labels)
	}
	return modelMeter{
		vec("model_requests_total", "Ended requests to models, by result: ok, stopped, or the class of the failure.", "model", "result"),
		vec("model_tokens_total", "Tokens that models reported: input, of which cached, and output.", "model", "kind"),
		vec("model_cost_dollars_total", "Cost of the reported tokens in US dollars, of models with a known price.", "model"),
		prices,
	}
}

// collectors returns the metrics.
func (m modelMeter) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.tokens, m.cost}
}

// count counts an ended request. A request whose context has ended was stopped.
func (m modelMeter) count(ctx context.Context, model string, u llm.Usage, stopped bool, err error) {
	result := "ok"
	switch {
	case stopped || err != nil && ctx.Err() != nil:
		result = "stopped"
	case err != nil:
		result = string(llm.ClassOf(err))
	}
	m.requests.WithLabelValues(model, result).Inc()
	for kind, n := range map[string]int{"input": u.Input, "cached": u.Cached, "output": u.Output} {
		m.tokens.WithLabelValues(model, kind).Add(float64(n))
	}
	if cost, known := m.prices.Cost(model, u); known {
		m.cost.WithLabelValues(model).Add(cost.Amount())
	}
}

// metered is the client of a service whose requests are counted. It has none of the optional interfaces of a model, like the clients.
type metered struct {
	llm.Model

	meter modelMeter
}

// Reply implements llm.Model.
func (m metered) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		var usage llm.Usage
		var failed error
		stopped := true
		defer func() { m.meter.count(ctx, m.Name(), usage, stopped && failed == nil, failed) }()
		for part, err := range m.Model.Reply(ctx, r) {
			failed = err
			if part.Usage != nil {
				usage = usage.Add(*part.Usage)
			}
			if !yield(part, err) {
				return
			}
		}
		stopped = false
	}
}

// Answer implements llm.Model.
func (m metered) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	a, err := m.Model.Answer(ctx, q)
	m.meter.count(ctx, m.Name(), a.Usage, false, err)
	return a, err
}
