package call_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/memstore"
	"github.com/callwright/callwright/agents"
	"github.com/callwright/callwright/agents/agentstest"
	"github.com/callwright/callwright/agents/call"
	"github.com/callwright/callwright/agents/llm"
)

// analyzed returns a request for a call whose plan requires an analysis.
func analyzed() call.Request {
	return call.Request{
		Agent: agents.Agent{FirstSentence: "hello", Webhook: "https://example.com/"},
		Plan:  call.Plan{Dispositions: []string{"sale", "no sale"}, SummaryPrompt: "In one sentence."},
	}
}

// inStudy runs a test in a synctest bubble, with a house whose model returns the results of answer. n counts the questions from 1.
func inStudy(
	t *testing.T, answer func(n int, q llm.Question) (string, error), test func(t *testing.T, h *house, m *agentstest.Model),
	change ...func(*call.Config),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := 0
		m := &agentstest.Model{Answers: func(_ context.Context, q llm.Question) (string, error) {
			n++
			return answer(n, q)
		}}
		change = append([]func(*call.Config){func(c *call.Config) { c.Model = m }}, change...)
		h := newHouse(t, 0, agentstest.PhoneConfig{}, change...)
		defer h.stop()
		test(t, h, m)
	})
}

// talkTo places a call, in which both sides speak, and waits for its end.
func (h *house) talkTo(r call.Request) call.Call {
	h.t.Helper()
	c := h.order(r)
	phone := h.answered()
	h.hears(phone, "hello")
	h.says(phone, "I buy it")
	if err := phone.WaitQuiet(h.t.Context(), 2*time.Second); err != nil {
		h.t.Fatal(err)
	}
	phone.Hangup()
	h.ended(c.ID)
	return c
}

// listen answers the next call, and hangs up when the agent has spoken.
func (h *house) listen() {
	h.t.Helper()
	phone := h.answered()
	h.hears(phone, "hello")
	if err := phone.WaitQuiet(h.t.Context(), time.Second); err != nil {
		h.t.Fatal(err)
	}
	phone.Hangup()
}

func good(int, llm.Question) (string, error) {
	return `{"summary":"They bought it.","disposition":"sale"}`, nil
}

// TestAnalysis checks that the webhook receives the record with the analysis, and that the model receives one question, with the transcript
// as data.
func TestAnalysis(t *testing.T) {
	t.Parallel()
	inStudy(t, good, func(t *testing.T, h *house, m *agentstest.Model) {
		m.Says = func(context.Context, llm.ReplyRequest) ([]llm.ReplyPart, error) {
			return agentstest.Texts("fine."), nil
		}
		c := h.talkTo(analyzed())
		waitFor(time.Hour)
		want := call.Analysis{Summary: "They bought it.", Disposition: "sale"}
		if len(h.notices.sent) != 1 || h.notices.sent[0].Analysis != want || h.notices.sent[0].ID != c.ID {
			t.Errorf("the webhook got %+v", h.notices.sent)
		}
		questions := m.Questions()
		if len(questions) != 1 {
			t.Fatalf("the model was asked %d times", len(questions))
		}
		q := questions[0]
		if q.Task != llm.TaskAnalyze || strings.Contains(q.Instructions, "buy") || !strings.Contains(q.Instructions, "In one sentence.") ||
			len(q.Messages) != 3 || q.Messages[1].Role != llm.RoleCaller || q.Messages[1].Text != "I buy it" {
			t.Errorf("it was asked %+v", q)
		}
		if !json.Valid(q.Schema) || !json.Valid(q.Evidence) {
			t.Errorf("schema %s, evidence %s", q.Schema, q.Evidence)
		}
	})
}

// TestAnalysisFails checks that, after any failure of the model, the webhook receives the record with the reason for the missing analysis.
func TestAnalysisFails(t *testing.T) {
	t.Parallel()
	failure := func(c llm.Class) func(int, llm.Question) (string, error) {
		return func(int, llm.Question) (string, error) { return "", &llm.Failure{Class: c, Message: "secret"} }
	}
	for name, test := range map[string]struct {
		answer func(int, llm.Question) (string, error)
		asked  int // in up to 3 attempts; in each, llm.Ask repeats an invalid answer twice and a transient failure once
		says   string
	}{
		"can't":       {failure(llm.ClassUnsupported), 1, "can't analyze"},
		"may not":     {failure(llm.ClassPermanent), 1, "the analysis failed: the language model refuses the key or the request"},
		"too long":    {failure(llm.ClassTooLong), 1, "too long"},
		"used up":     {failure(llm.ClassQuota), 3, "failed"},
		"breaks":      {failure(llm.ClassTransient), 6, "failed"},
		"makes it up": {func(int, llm.Question) (string, error) { return `{"summary":"s","disposition":"maybe"}`, nil }, 9, "no usable answer"},
		"leaves out":  {func(int, llm.Question) (string, error) { return `{"summary":"s"}`, nil }, 9, "no usable answer"},
		"says little": {func(int, llm.Question) (string, error) { return `{"summary":" ","disposition":"sale"}`, nil }, 3, "no usable answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inStudy(t, test.answer, func(t *testing.T, h *house, m *agentstest.Model) {
				c := h.order(analyzed())
				h.listen()
				waitFor(time.Hour)
				got, _, err := h.Get(t.Context(), "a", c.ID)
				if err != nil || got.Analysis.Summary != "" || got.Analysis.Disposition != "" ||
					!strings.Contains(got.Analysis.Error, test.says) || strings.Contains(got.Analysis.Error, "secret") {
					t.Errorf("the analysis is %+v, %v", got.Analysis, err)
				}
				if n := len(m.Questions()); n != test.asked || len(h.notices.sent) != 1 {
					t.Errorf("the model was asked %d times, the webhook got %d records", n, len(h.notices.sent))
				}
			})
		})
	}
}

// TestAnalysisAfterABreak checks that the analysis is retried after transient failures of the model.
func TestAnalysisAfterABreak(t *testing.T) {
	t.Parallel()
	inStudy(t, func(n int, q llm.Question) (string, error) {
		if n <= 4 {
			return "", &llm.Failure{Class: llm.ClassTransient, Message: "no"}
		}
		return good(n, q)
	}, func(t *testing.T, h *house, _ *agentstest.Model) {
		c := h.order(analyzed())
		h.listen()
		waitFor(time.Hour)
		if got, _, err := h.Get(t.Context(), "a", c.ID); err != nil || got.Analysis.Disposition != "sale" {
			t.Errorf("the analysis is %+v, %v", got.Analysis, err)
		}
	})
}

// TestAnalysisIsPutOff checks that the analysis honors the RetryAfter of an overloaded model, and that it fails if the model stays
// overloaded.
func TestAnalysisIsPutOff(t *testing.T) {
	t.Parallel()
	for busy, want := range map[int]string{6: "", 1000: "the analysis failed: the language model limits the rate of requests"} {
		inStudy(t, func(n int, q llm.Question) (string, error) {
			if n <= busy {
				return "", &llm.Failure{Class: llm.ClassRateLimited, Message: "later", RetryAfter: time.Minute}
			}
			return good(n, q)
		}, func(t *testing.T, h *house, m *agentstest.Model) {
			c := h.order(analyzed())
			h.listen()
			waitFor(time.Hour)
			got, _, err := h.Get(t.Context(), "a", c.ID)
			if err != nil || got.Analysis.Error != want || (got.Analysis.Disposition == "sale") != (want == "") ||
				len(h.notices.sent) != 1 || len(m.Questions()) > 15 {
				t.Errorf("asked %d times, the analysis is %+v, %v", len(m.Questions()), got.Analysis, err)
			}
		})
	}
}

// TestAnalysisThatHangs checks that the webhook receives the record even if the model never answers.
func TestAnalysisThatHangs(t *testing.T) {
	t.Parallel()
	inStudy(t, good, func(t *testing.T, h *house, m *agentstest.Model) {
		m.Answers = func(ctx context.Context, _ llm.Question) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		h.order(analyzed())
		h.listen()
		waitFor(time.Hour)
		if len(h.notices.sent) != 1 || h.notices.sent[0].Analysis.Error != "the analysis failed: the language model did not answer" || len(m.Questions()) != 3 {
			t.Errorf("asked %d times, the webhook got %+v", len(m.Questions()), h.notices.sent)
		}
	})
}

// TestAnalysisIsNotGivenUpByAStop checks that another node repeats the last attempt of an analysis if the first node stops during it.
func TestAnalysisIsNotGivenUpByAStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, n := memstore.New(), 0
		hangs := &agentstest.Model{Answers: func(ctx context.Context, _ llm.Question) (string, error) {
			if n++; n == 5 { // the third attempt; llm.Ask has asked twice in each attempt before
				<-ctx.Done()
			}
			return "", &llm.Failure{Class: llm.ClassTransient, Message: "no"}
		}}
		before := openHouse(t, store, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Model = hangs })
		c := before.order(analyzed())
		before.listen()
		before.ended(c.ID)
		waitFor(10 * time.Second)
		before.stop()
		works := &agentstest.Model{Answers: func(_ context.Context, q llm.Question) (string, error) { return good(0, q) }}
		h := openHouse(t, store, 0, agentstest.PhoneConfig{}, func(c *call.Config) { c.Model, c.Node = works, "n2" })
		defer h.stop()
		waitFor(time.Hour)
		if n != 5 || len(h.notices.sent) != 1 || h.notices.sent[0].Analysis.Disposition != "sale" {
			t.Errorf("asked %d times, the webhook got %+v", n, h.notices.sent)
		}
	})
}

// TestNothingToAnalyze checks that the model receives no question about an unanswered or silent call.
func TestNothingToAnalyze(t *testing.T) {
	t.Parallel()
	inStudy(t, good, func(t *testing.T, h *house, m *agentstest.Model) {
		h.line.Script(agentstest.Refuse(call.CauseBusy, 486))
		h.order(analyzed())
		waitFor(time.Hour)
		h.line.Script(func(context.Context, call.DialRequest, func()) (*agentstest.Phone, error) {
			return agentstest.NewPhone(agentstest.PhoneConfig{}), nil
		})
		r := analyzed()
		r.Agent.WaitForGreeting = true
		silent := h.order(r)
		h.answered().Hangup()
		waitFor(time.Hour)
		got, _, err := h.Get(t.Context(), "a", silent.ID)
		if err != nil || got.Analysis.Error != "nothing was said" || len(m.Questions()) != 0 || len(h.notices.sent) != 2 {
			t.Errorf("asked %d times, %d records, the analysis is %+v, %v",
				len(m.Questions()), len(h.notices.sent), got.Analysis, err)
		}
	})
}

// twice is a Work that delivers every task a second time after it has succeeded.
type twice struct{ *memstore.Work }

func (w twice) Handle(q callwright.Queue, kind string, h callwright.Handler) {
	w.Work.Handle(q, kind, func(ctx context.Context, task callwright.Task, attempt int) error {
		if err := h(ctx, task, attempt); err != nil {
			return err
		}
		return h(ctx, task, attempt)
	})
}

func deliverTwice(c *call.Config) {
	work, ok := c.Work.(*memstore.Work)
	if !ok {
		panic("not memstore's work")
	}
	c.Work = twice{work}
}

// TestAnalysisDeliveredTwice checks that the model is asked once and the number dialed once, although every task is delivered twice.
func TestAnalysisDeliveredTwice(t *testing.T) {
	t.Parallel()
	inStudy(t, good, func(t *testing.T, h *house, m *agentstest.Model) {
		c := h.order(analyzed())
		h.listen()
		waitFor(time.Hour)
		got, _, err := h.Get(t.Context(), "a", c.ID)
		if err != nil || len(m.Questions()) != 1 || got.Analysis.Disposition != "sale" || len(h.line.Dials()) != 1 {
			t.Errorf("asked %d times, dialed %d times, record %+v, %v", len(m.Questions()), len(h.line.Dials()), got, err)
		}
	}, deliverTwice)
}

// TestAnalysisIsNotKept checks that the webhook receives the analysis once, even if the first write of the analysis returns an error after
// the store has executed it.
func TestAnalysisIsNotKept(t *testing.T) {
	t.Parallel()
	f := &faulty{}
	inStudy(t, good, func(t *testing.T, h *house, _ *agentstest.Model) {
		lost := false
		f.set(func() {
			f.afterUpdate = func(c call.Call) error {
				if c.Analysis == (call.Analysis{}) || lost {
					return nil
				}
				lost = true
				return errors.New("the connection is gone")
			}
		})
		h.order(analyzed())
		h.listen()
		waitFor(time.Hour)
		if len(h.notices.sent) != 1 || h.notices.sent[0].Analysis.Disposition != "sale" || !lost {
			t.Errorf("the webhook got %+v", h.notices.sent)
		}
	}, func(c *call.Config) { f.Store, c.Store = c.Store, f })
}
