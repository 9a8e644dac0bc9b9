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

// role is the part that a model plays in a run.
type role string

const (
	byCaller role = "caller"
	byAgent  role = "agent"
	byJudge  role = "judge"
)

const (
	appendTime   = 5 * time.Second // to keep an answer, also of a run that is cancelled
	bytesPerWord = 3               // of a request, for each token that is reserved; fewer than most texts have
)

// errBudget is the cause of a failure to call a model for want of a budget, errStopped the cause with which a run ends that is to
// go no further than its journal.
var (
	errBudget  = errors.New("the budget is used up")
	errStopped = errors.New("the run is cancelled")
)

// recorder keeps what the models of one run answer, and counts their tokens.
//
// An answer is kept before anybody sees it, unless its model is llm.Repeatable, which is asked again instead. Requests are told apart by their content; equal ones get the answers of equal
// ones in the order in which those were kept. Failures are kept when a repetition could only fail again (permanent, too
// long, unsupported, invalid): a run that is resumed ends as it did. Others are not kept, because they cost nothing and may
// have passed.
type recorder struct {
	journal Journal // nil: nothing is kept
	budget  *Budget
	pricer  Pricer
	answer  int // tokens that are reserved for an answer
	trial   int
	stop    context.CancelCauseFunc // ends the run where its journal ends; nil: the run goes on
	log     *slog.Logger

	mu      sync.Mutex
	kept    map[digest][]*entry // answers that were not used yet
	unused  int                 // of them
	next    map[digest]int      // the number of the next answer that is kept
	usage   Usage
	asked   Models
	trouble trouble
}

// trouble is what has kept a recorder from asking or from keeping answers.
type trouble struct {
	journal  error  // that the journal has failed with first; nil: it has not
	quota    bool   // an account is empty
	budget   error  // of the first call that did not fit into the budget; nil: all did
	unpriced string // a model whose price is not known; empty: none
	refused  bool   // a model refuses the key or the request
	needed   bool   // something was asked that rules cannot answer: words, a judgement, a choice that no rule makes
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

// byNumber orders keys by their numbers, which are shorter the smaller they are.
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

// ask answers a request from the journal, or has call answer it and keeps the answer. write writes the form of the request.
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
	if r.stop != nil && (!m.repeats || r.toldAll()) {
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

// reserve reserves what a call may use.
func (r *recorder) reserve(ctx context.Context, m recorded, size int) (Spend, error) {
	likely := llm.Usage{Input: size / bytesPerWord, Output: r.answer}
	reserved := Spend{Tokens: likely.Input + likely.Output}
	reserved.Cost, _ = r.pricer.of(m.named, likely)
	err := r.budget.reserve(ctx, reserved)
	if short, ok := errors.AsType[*shortage](err); ok {
		short.shared = short.used.Tokens > r.budget.Used().Tokens
		r.mu.Lock()
		if r.trouble.budget == nil {
			r.trouble.budget = short
		}
		r.mu.Unlock()
		return Spend{}, &llm.Failure{Class: llm.ClassQuota, Message: short.Error(), Cause: short}
	}
	return reserved, err
}

// spend returns what an answer has used. Without counted tokens nobody knows its price, but its estimate bounds the cost.
func (r *recorder) spend(m recorded, e *entry, size int) Spend {
	if e.Class != "" {
		return Spend{} // a failure costs nothing
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

// find takes the first answer to a request that was not used yet. If there is none, it returns the key under which the answer is
// to be kept; empty: it is not kept.
func (r *recorder) find(m recorded, write func(*form)) (key string, size int, found *entry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.trouble.journal != nil {
		return "", 0, nil, unkept(r.trouble.journal)
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

// toldAll reports whether all answers of the journal were used.
func (r *recorder) toldAll() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unused == 0
}

// lasting returns what to keep of a failure, nil if a repetition may do better. It notes that an account is empty.
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
		r.trouble.quota = true
		r.mu.Unlock()
	case llm.ClassTransient, llm.ClassRateLimited:
	}
	return nil
}

// store adds an answer to the journal; without a key it does nothing. An answer that came while the run was cancelled is kept, too:
// it was paid.
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
	if r.trouble.journal == nil {
		r.trouble.journal = err
	}
	return unkept(err)
}

// account counts the tokens of an answer.
func (r *recorder) account(m recorded, reserved Spend, e *entry, size int) {
	spent := r.spend(m, e, size)
	r.budget.account(reserved, spent)
	r.mu.Lock()
	defer r.mu.Unlock()
	if spent.Unpriced > 0 {
		r.trouble.unpriced = m.named
	}
	tokens, name := r.usage.of(m.by), r.asked.of(m.by)
	*tokens = tokens.Add(e.usage())
	r.trouble.refused = r.trouble.refused || e.Class == llm.ClassPermanent
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

// need notes that something was asked that takes a language model.
func (r *recorder) need() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trouble.needed = true
}

// troubles returns what went wrong so far.
func (r *recorder) troubles() trouble {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.trouble
}

// unkept returns the failure to keep an answer.
func unkept(err error) error {
	return &llm.Failure{Class: llm.ClassTransient, Message: "the journal of the run cannot be written", Cause: err}
}

// over returns the failure of a context that has ended.
func over(ctx context.Context) error {
	return &llm.Failure{Class: llm.ClassTransient, Message: "the run has ended", Cause: context.Cause(ctx)}
}

// recorded is a model of a run. Its recorder counts its answers, and keeps them unless it repeats them.
type recorded struct {
	model   llm.Model
	by      role
	repeats bool   // see llm.Repeatable
	asked   string // the name that the request asks for; empty: it asks for none
	named   string // the model's name, for its price: asked, if there is one
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

// Hints returns the hints of the model, if it has any. They cost nothing and are not kept.
func (m recorded) Hints(r llm.ReplyRequest, options []llm.Option) []string {
	if h, ok := m.model.(llm.Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Reply says what is said next, once the whole reply is there and kept.
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
