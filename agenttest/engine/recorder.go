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

// role is the role in which a run calls a model.
type role string

const (
	byCaller role = "caller"
	byAgent  role = "agent"
	byJudge  role = "judge"
)

const (
	appendTime   = 5 * time.Second // time limit for storing an answer, which also applies after the run is canceled
	bytesPerWord = 3               // bytes of a request per reserved token; less than most texts need
)

// errBudget matches the error of a call that does not fit into the budget. errStopped is the cancellation cause of a run that stops at the
// end of its journal.
var (
	errBudget  = errors.New("the budget is used up")
	errStopped = errors.New("the run is cancelled")
)

// recorder stores the answers of a run's models, and counts their tokens.
//
// The recorder stores an answer before the run uses it, unless the model is llm.Repeatable: such a model is called again. The recorder
// identifies requests by their content, and equal requests receive stored answers in order. It stores a failure if a retry could only fail
// again (permanent, too long, unsupported, invalid), so that a resumed run ends in the same way. It does not store other failures, because
// they cost nothing and may be temporary.
type recorder struct {
	journal Journal // if nil, answers are not stored
	budget  *Budget
	pricer  Pricer
	answer  int // tokens to reserve for an answer
	trial   int
	stop    context.CancelCauseFunc // stops the run at the end of its journal; nil if the run continues
	log     *slog.Logger

	mu           sync.Mutex
	kept         map[digest][]*entry // stored answers that are not used yet
	unused       int                 // number of answers in kept
	next         map[digest]int      // number of the next answer to store
	usage        Usage
	asked        Models
	uses         [3][]llm.Use // by role: see roles
	recent       [3][]llm.Use // since the last turn
	callFailures callFailures
}

// roles lists the roles in the order of recorder.uses.
var roles = [...]role{byCaller, byAgent, byJudge}

// callFailures contains failures of the journal and of model calls.
type callFailures struct {
	journal  error  // first error of the journal, or nil
	quota    bool   // the quota of an account is exhausted
	budget   error  // error of the first call that did not fit into the budget, or nil
	unpriced string // a model with an unknown price, or empty
	refused  bool   // a model refused the key or the request
	needed   bool   // a request needed a language model: words, a judgment, or a choice without a rule
}

// load reads the answers of the journal. It omits unreadable answers and logs a warning.
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

// byNumber compares keys by their numbers. Keys with smaller numbers are shorter or equally long.
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

// ask returns the answer to a request from the journal. If the journal contains none, ask calls the function call and stores its answer,
// unless the run must stop at the end of its journal: then ask stops the run and returns an error. write writes the form of the request.
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

// reserve reserves the possible usage of a call, and records the first error of the budget.
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

// spend returns the usage of an answer. If the model reported no tokens, the usage is estimated, and counts as a call with an unknown
// price.
func (r *recorder) spend(m recorded, e *entry, size int) Spend {
	if e.Class != "" {
		return Spend{} // failures cost nothing
	}
	used := e.usage()
	counted := used != llm.Usage{}
	if !counted {
		used = e.estimate(size)
	}
	s := Spend{Tokens: used.Input + used.Output}
	var known bool
	if s.Cost, known = r.pricer.of(cmp.Or(e.Replacement, m.named), used); known && counted {
		s.Priced = 1
	} else {
		s.Unpriced = 1
	}
	return s
}

// find returns the first unused answer to a request, and removes it from the unused ones. If there is none, it returns the key under which
// to store the answer, or "" if the answer is not stored.
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

// journalUsed reports whether all answers of the journal have been used.
func (r *recorder) journalUsed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unused == 0
}

// lasting returns the entry of a permanent failure, or nil if a retry may succeed. It also records that a quota is exhausted.
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

// store adds an answer to the journal. It does nothing if key is "". An answer that arrives after the run is canceled is also stored,
// because it was paid for.
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

// account replaces the reserved usage of a call by the usage of its answer, and counts tokens and failures.
func (r *recorder) account(m recorded, reserved Spend, e *entry, size int) {
	spent := r.spend(m, e, size)
	r.budget.account(reserved, spent)
	r.mu.Lock()
	defer r.mu.Unlock()
	if spent.Unpriced > 0 {
		r.callFailures.unpriced = cmp.Or(e.Replacement, m.named)
	}
	tokens, name := r.usage.of(m.by), r.asked.of(m.by)
	*tokens = tokens.Add(e.usage())
	r.callFailures.refused = r.callFailures.refused || e.Class == llm.ClassPermanent
	use := llm.UseOf(m.model, m.asked, e.Replacement, e.Cause, e.usage())
	if e.Class != "" {
		use.Failed, use.Uncounted = 1, 0
	}
	*name = use.Model
	i := slices.Index(roles[:], m.by)
	r.uses[i], r.recent[i] = llm.AddUses(r.uses[i], use), llm.AddUses(r.recent[i], use)
}

// recentUses returns the models that have answered since the last call of recentUses.
func (r *recorder) recentUses() []Use {
	r.mu.Lock()
	defer r.mu.Unlock()
	uses := usesOf(r.recent)
	r.recent = [3][]llm.Use{}
	return uses
}

// allUses returns the models that have answered so far, with the cost of their usage.
func (r *recorder) allUses() []Use {
	r.mu.Lock()
	defer r.mu.Unlock()
	uses := usesOf(r.uses)
	for i, u := range uses {
		if cost, known := r.pricer.of(u.Model, u.Usage); known {
			uses[i].Cost = &cost
		}
	}
	return uses
}

// usesOf returns the uses of all roles in one list, or nil if there are none.
func usesOf(byRole [3][]llm.Use) []Use {
	var all []Use
	for i, uses := range byRole {
		for _, u := range uses {
			all = append(all, Use{Role: string(roles[i]), Use: u})
		}
	}
	return all
}

// spent returns the tokens counted so far.
func (r *recorder) spent() Usage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.usage
}

// answerers returns the names of the models that have answered so far.
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

// failures returns the failures recorded so far.
func (r *recorder) failures() callFailures {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.callFailures
}

// storeFailure returns the model failure that reports an error of the journal.
func storeFailure(err error) error {
	return &llm.Failure{Class: llm.ClassTransient, Message: "the journal of the run cannot be written", Cause: err}
}

// over returns the model failure that reports that ctx is done.
func over(ctx context.Context) error {
	return &llm.Failure{Class: llm.ClassTransient, Message: "the run has ended", Cause: context.Cause(ctx)}
}

// recorded is a model of a run. Its recorder counts its answers, and stores them unless the model is llm.Repeatable.
type recorded struct {
	model   llm.Model
	by      role
	repeats bool   // whether the model is llm.Repeatable
	asked   string // model name in the request; may be empty
	named   string // Model.Name of the model that the request names, for its price
	in      *recorder
}

var (
	_ llm.Model      = recorded{}
	_ llm.Hinter     = recorded{}
	_ llm.Repeatable = recorded{}
)

// ask sets the name of the model that a request names.
func (m *recorded) ask(name string) {
	m.asked = name
	m.named, _ = llm.NameOf(m.model, name)
}

// Name returns the name of the model.
func (m recorded) Name() string { return m.model.Name() }

// Repeats reports whether the model repeats its answers at no cost.
func (m recorded) Repeats() bool { return m.repeats }

// Hints returns the hints of the model, or nil if it is no llm.Hinter. Hints cost nothing and are not stored.
func (m recorded) Hints(r llm.ReplyRequest, options []llm.Option) []string {
	if h, ok := m.model.(llm.Hinter); ok {
		return h.Hints(r, options)
	}
	return nil
}

// Reply yields the reply after it is complete and stored.
func (m recorded) Reply(ctx context.Context, r llm.ReplyRequest) iter.Seq2[llm.ReplyPart, error] {
	return func(yield func(llm.ReplyPart, error) bool) {
		r.Trial = m.in.trial
		m.in.need()
		m.ask(r.Model)
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

// Answer returns the answer to a question after it is stored.
func (m recorded) Answer(ctx context.Context, q llm.Question) (llm.Answer, error) {
	q.Trial = m.in.trial
	m.ask(q.Model)
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
