package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callwright/callwright/agents/llm"
)

// role is the role of a model in a run.
type role string

const (
	byCaller role = "caller"
	byAgent  role = "agent"
	byJudge  role = "judge"
)

const (
	appendTime   = 5 * time.Second // time to store an answer, even of a cancelled run
	bytesPerWord = 3               // bytes of a request for each reserved token; fewer than in most texts
)

// errBudget is the cause of a refused call beyond the budget. errStopped is the cause that ends a run at the end of its journal.
var (
	errBudget  = errors.New("the budget is used up")
	errStopped = errors.New("the run is cancelled")
)

// recorder stores the answers of a run's models, and counts their tokens.
//
// An answer is stored before it is used, unless its model is llm.Repeatable, which is asked again instead. Requests are identified
// by their content; equal requests get stored answers in order. Failures are stored if a repetition could only fail again
// (permanent, too long, unsupported, invalid), so that a resumed run ends the same way. Other failures are not stored, because they
// cost nothing and may be temporary.
type recorder struct {
	journal Journal // nil: answers are not stored
	budget  *Budget
	pricer  Pricer
	answer  int // tokens reserved for an answer
	trial   int
	stop    context.CancelCauseFunc // ends the run at the end of its journal; nil: the run continues
	log     *slog.Logger

	mu           sync.Mutex
	kept         map[digest][]*entry // unused answers
	unused       int                 // of them
	next         map[digest]int      // the number of the next stored answer
	usage        Usage
	asked        Models
	callFailures callFailures
}

// callFailures holds the failures of a recorder's calls and journal.
type callFailures struct {
	journal  error  // first error of the journal; nil: none
	quota    bool   // an account is empty
	budget   error  // error of the first call beyond the budget; nil: none
	unpriced string // a model with an unknown price; empty: none
	refused  bool   // a model refuses the key or the request
	needed   bool   // a request needed a language model: words, a judgement, a choice without a rule
}

// load reads the journal.
func (r *recorder) load(ctx context.Context) error {
	r.kept, r.next = map[digest][]*entry{}, map[digest]int{}
	if r.journal == nil {
		return nil
	}
	answers, err := r.journal.Answers(ctx)
	if err != nil {
		return err
	}
	keys := slices.SortedFunc(maps.Keys(answers), byNumber)
	for _, key := range keys {
		d, number, ok := parseKey(key)
		e := new(entry)
		if !ok || json.Unmarshal(answers[key], e) != nil {
			r.log.WarnContext(ctx, "an answer in the journal is not readable and is asked for again", "key", key)
			continue
		}
		r.kept[d] = append(r.kept[d], e)
		r.unused++
		r.next[d] = number + 1
	}
	return nil
}

// byNumber orders keys by their numbers, of which smaller ones are shorter.
func byNumber(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func (d digest) key(number int) string {
	var text [2*sha256.Size + 12]byte
	hex.Encode(text[:], d[:])
	text[2*sha256.Size] = '-'
	return string(strconv.AppendInt(text[:2*sha256.Size+1], int64(number), 10))
}

func parseKey(key string) (d digest, number int, ok bool) {
	head, tail, _ := strings.Cut(key, "-")
	number, err := strconv.Atoi(tail)
	raw, err2 := hex.DecodeString(head)
	if err != nil || err2 != nil || len(raw) != len(d) || number < 0 {
		return d, 0, false
	}
	return digest(raw), number, true
}

// ask answers a request from the journal, or by call, and then stores the answer. write writes the form of the request.
func (r *recorder) ask(ctx context.Context, m recorded, write func(*form), call func() (*entry, error)) (*entry, error) {
	if ctx.Err() != nil {
		return nil, over(ctx)
	}
	key, size, found, err := r.find(m, write)
	if err != nil {
		return nil, err
	}
	if found != nil {
		r.account(m, Spend{}, found, size)
		return found, found.failure()
	}
	if r.stop != nil && (!m.repeats || r.journalUsed()) {
		r.stop(errStopped)
		return nil, over(ctx)
	}
	reserved, err := r.reserve(ctx, m, size)
	if err != nil {
		return nil, err
	}
	e, err := call()
	if err != nil {
		if e = r.lasting(ctx, err); e == nil {
			r.budget.account(reserved, Spend{})
			return nil, err
		}
	}
	if problem := r.store(ctx, key, e); problem != nil {
		r.budget.account(reserved, r.spend(m, e, size))
		return nil, problem
	}
	r.account(m, reserved, e, size)
	return e, err
}

// reserve reserves the possible usage of a call.
func (r *recorder) reserve(ctx context.Context, m recorded, size int) (Spend, error) {
	likely := llm.Usage{Input: size / bytesPerWord, Output: r.answer}
	reserved := Spend{Tokens: likely.Input + likely.Output}
	reserved.Cost, _ = r.pricer.of(m.named, likely)
	err := r.budget.reserve(ctx, reserved)
	if short, ok := errors.AsType[*shortage](err); ok {
		short.shared = short.used.Tokens > r.budget.Used().Tokens
		r.mu.Lock()
		if r.callFailures.budget == nil {
			r.callFailures.budget = short
		}
		r.mu.Unlock()
		return Spend{}, &llm.Failure{Class: llm.ClassQuota, Message: short.Error(), Cause: short}
	}
	return reserved, err
}

// spend returns the usage of an answer. Without counted tokens its price is unknown, but its estimate bounds the cost.
func (r *recorder) spend(m recorded, e *entry, size int) Spend {
	if e.Class != "" {
		return Spend{} // a failure has no cost
	}
	used := e.usage()
	counted := used != llm.Usage{}
	if !counted {
		used = e.estimate(size)
	}
	s := Spend{Tokens: used.Input + used.Output}
	var known bool
	if s.Cost, known = r.pricer.of(m.named, used); known && counted {
		s.Priced = 1
	} else {
		s.Unpriced = 1
	}
	return s
}

// find takes the first unused answer to a request. Without one, it returns the key for storing the answer; empty: it is not stored.
func (r *recorder) find(m recorded, write func(*form)) (key string, size int, found *entry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.callFailures.journal != nil {
		return "", 0, nil, storeFailure(r.callFailures.journal)
	}
	f := forms.Get().(*form) //nolint:forcetypeassert // nothing else is in it
	defer forms.Put(f)
	*f = (*f)[:0]
	f.text(string(m.by))
	f.text(m.model.Name())
	write(f)
	size = len(*f)
	if r.journal == nil || m.repeats && r.unused == 0 {
		return "", size, nil, nil
	}
	d := digest(sha256.Sum256(*f))
	if kept := r.kept[d]; len(kept) > 0 {
		r.kept[d] = kept[1:]
		r.unused--
		return "", size, kept[0], nil
	}
	if m.repeats {
		return "", size, nil, nil
	}
	number := r.next[d]
	r.next[d] = number + 1
	return d.key(number), size, nil, nil
}

// journalUsed reports whether all answers of the journal were used.
func (r *recorder) journalUsed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unused == 0
}

// lasting returns the entry of a permanent failure; nil if a repetition may succeed. It records an empty account.
func (r *recorder) lasting(ctx context.Context, err error) *entry {
	f, ok := errors.AsType[*llm.Failure](err)
	if !ok || ctx.Err() != nil {
		return nil
	}
	switch f.Class {
	case llm.ClassPermanent, llm.ClassTooLong, llm.ClassUnsupported, llm.ClassInvalid:
		return &entry{Class: f.Class, Message: strings.ToValidUTF8(f.Message, "\uFFFD")}
	case llm.ClassQuota:
		r.mu.Lock()
		r.callFailures.quota = true
		r.mu.Unlock()
	case llm.ClassTransient, llm.ClassRateLimited:
	}
	return nil
}

// store adds an answer to the journal; without a key it does nothing. An answer that came during the cancellation of the run is
// also stored, because it was paid.
func (r *recorder) store(ctx context.Context, key string, e *entry) error {
	if key == "" {
		return nil
	}
	raw, err := json.Marshal(e)
	if len(raw) > MaxAnswer {
		return tooLong()
	}
	if err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), appendTime)
		defer cancel()
		err = r.journal.Append(ctx, key, raw)
	}
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.callFailures.journal == nil {
		r.callFailures.journal = err
	}
	return storeFailure(err)
}

// account counts the tokens of an answer.
func (r *recorder) account(m recorded, reserved Spend, e *entry, size int) {
	spent := r.spend(m, e, size)
	r.budget.account(reserved, spent)
	r.mu.Lock()
	defer r.mu.Unlock()
	if spent.Unpriced > 0 {
		r.callFailures.unpriced = m.named
	}
	tokens, name := r.usage.of(m.by), r.asked.of(m.by)
	*tokens = tokens.Add(e.usage())
	r.callFailures.refused = r.callFailures.refused || e.Class == llm.ClassPermanent
	*name, _ = llm.NameOf(m.model, m.asked)
}

// spent returns the tokens so far.
func (r *recorder) spent() Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage
}

// answerers returns the models that have answered so far.
func (r *recorder) answerers() Models {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked
}

// need records that a request needed a language model.
func (r *recorder) need() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.callFailures.needed = true
}

// failures returns the failures so far.
func (r *recorder) failures() callFailures {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.callFailures
}

// storeFailure returns the failure of storing an answer.
func storeFailure(err error) error {
	return &llm.Failure{Class: llm.ClassTransient, Message: "the journal of the run cannot be written", Cause: err}
}

// over returns the failure of a context that has ended.
func over(ctx context.Context) error {
	return &llm.Failure{Class: llm.ClassTransient, Message: "the run has ended", Cause: context.Cause(ctx)}
}

// recorded is a model of a run. Its recorder counts its answers, and stores them unless the model repeats them.
type recorded struct {
	model   llm.Model
	by      role
	repeats bool   // see llm.Repeatable
	asked   string // the name in the request; empty: none
	named   string // the model's name, for its price: asked, if not empty
	in      *recorder
}

var (
	_ llm.Model      = recorded{}
	_ llm.Hinter     = recorded{}
	_ llm.Repeatable = recorded{}
)

// Name returns the name of the model.
func (m recorded) Name() string { return m.model.Name() }

// Repeats reports whether the model repeats its answers.
func (m recorded) Repeats() bool { return m.repeats }

// Hints returns the hints of the model, if any. They cost nothing and are not stored.
func (m recorded) Hints(r llm.ReplyRequest, options []llm.Option) []string {
	if h, ok := m.model.(llm.Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Reply returns the reply after it is complete and stored.
func (m recorded) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		r.Trial = m.in.trial
		m.in.need()
		m.asked, m.named = r.Model, cmp.Or(r.Model, m.model.Name())
		e, err := m.in.ask(ctx, m, func(f *form) { f.reply(&r) }, func() (*entry, error) {
			return collect(m.model.Reply(ctx, r))
		})
		if err != nil {
			yield(llm.ReplyPart{}, err)
			return
		}
		for i := range e.Parts {
			if !yield(e.Parts[i].part(), nil) {
				return
			}
		}
	}
}

// Answer answers a question.
func (m recorded) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	q.Trial = m.in.trial
	m.asked, m.named = q.Model, cmp.Or(q.Model, m.model.Name())
	e, err := m.in.ask(ctx, m, func(f *form) { f.question(&q) }, func() (*entry, error) {
		a, err := m.model.Answer(ctx, q)
		if err != nil {
			return nil, err
		}
		return answered(a)
	})
	if err != nil || q.Task != llm.TaskRoute && q.Task != llm.TaskExtract {
		m.in.need()
	}
	if err != nil {
		return llm.Answer{}, err
	}
	return e.Answer.answer(), nil
}
