package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/callwright/callwright/adapters/bunstore/pgtest"
	"github.com/callwright/callwright/internal/await"
	"github.com/callwright/callwright/internal/e2e/mailbox"
	"github.com/callwright/callwright/internal/e2e/server"
	"github.com/callwright/callwright/porting/loa"
)

const (
	portKills   = 60 // number of times that one of two servers is killed
	portWriters = 4
	perKill     = 4  // stories that begin between two kills
	mostWrites  = 14 // maximum number of answered requests between two kills
)

// portKillSeed determines the moments of the kills, as far as the writers' requests arrive in the same order.
var portKillSeed = flag.Uint64("portkillseed", 1, "seed of the moments at which TestPortingKills kills")

// TestPortingKills kills one of two servers on one database, sixty times, while users upload bills, request ports, sign and decline
// letters, and cancel. In the end, each request must exist once, in one state, with a history without gaps. Each entry must have been
// mailed and sent to the webhook under one id. Each ported number must be registered once, no acknowledged bill may be lost, and every
// audit trail must be valid.
func TestPortingKills(t *testing.T) {
	t.Parallel()
	k := newPortKilling(t)
	var writing sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for i := range portWriters {
		random := mathrand.New(mathrand.NewPCG(*portKillSeed, uint64(i)+1))
		writing.Go(func() {
			for range k.begin {
				if ctx.Err() == nil {
					k.tell(ctx, t, random)
				}
			}
		})
	}
	for range portKills {
		target := k.answered.Load() + 1 + int64(k.random.IntN(mostWrites))
		for range perKill {
			k.begin <- struct{}{}
		}
		await.That(t, "requests to be answered", func() bool { return k.answered.Load() >= target || len(k.begin) == 0 || t.Failed() })
		k.kill(t, k.random.IntN(len(k.nodes)))
		k.hintAll(ctx, t, 2*perKill)
	}
	close(k.begin)
	writing.Wait()
	k.check(ctx, t)
}

// portKilling is the state of a run of TestPortingKills.
type portKilling struct {
	random *mathrand.Rand // only for the goroutine of the test
	box    *mailbox.Box
	hooks  *portHooks
	config server.Config
	begin  chan struct{} // contains a token for each story that may begin

	answered atomic.Int64
	numbers  atomic.Int64

	mu      sync.Mutex
	nodes   [2]*server.Server
	bills   []string // ids of the acknowledged bills
	stories []*portStory
}

// portStory is a port request, with the acknowledged answers about it.
type portStory struct {
	number, id           string
	signed, over, wanted bool // over: signed, declined or canceled; wanted: must be ported
}

func newPortKilling(t *testing.T) *portKilling {
	t.Helper()
	k := &portKilling{box: mailbox.Start(t), hooks: newPortHooks(t), begin: make(chan struct{}, 2*perKill)}
	k.random = mathrand.New(mathrand.NewPCG(*portKillSeed, 0))
	secret := make([]byte, 32)
	_, _ = rand.Read(secret) // never fails, according to its documentation
	k.config = server.Config{
		Flags: append(portingFlags(k.box), "--ports-per-hour", "1000", "--database-url", pgtest.DSN(t)),
		Env:   []string{"CALLWRIGHT_SECRET_KEY=" + base64.StdEncoding.EncodeToString(secret)},
	}
	k.nodes[0], k.nodes[1] = server.StartTwo(t, k.config)
	return k
}

// kill kills server i and starts it again with its data.
func (k *portKilling) kill(t *testing.T, i int) {
	t.Helper()
	config := k.config
	config.Data, config.Key = k.nodes[i].Data, k.nodes[i].Key
	k.nodes[i].Kill()
	s := server.Start(t, config)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.nodes[i] = s
}

// ask sends a request to a random server, and repeats it until a server answers with a status other than 503. It fails the test if none
// does so in time.
func (k *portKilling) ask(ctx context.Context, t *testing.T, method, path, kind, key, body string) (status int, answer string) {
	asked := await.Within(ctx, takeover, func() bool {
		k.mu.Lock()
		s := k.nodes[mathrand.IntN(len(k.nodes))]
		k.mu.Unlock()
		address := path
		if !strings.HasPrefix(path, "http") {
			address = s.URL + path
		} else if u, err := url.Parse(path); err == nil {
			address = s.URL + u.Path
		}
		req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return true
		}
		req.Header.Set("Authorization", "Bearer "+s.Key)
		req.Header.Set("Content-Type", kind)
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return false
		}
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode == http.StatusServiceUnavailable {
			return false
		}
		status, answer = res.StatusCode, string(text)
		return true
	})
	if !asked && ctx.Err() == nil {
		t.Errorf("%s %s was never answered", method, path)
	}
	k.answered.Add(1)
	return status, answer
}

// must calls ask and fails the test if the status is not in want. It decodes the answer's data into the argument into, if that is not nil.
func (k *portKilling) must(ctx context.Context, t *testing.T, into any, method, path, kind, key, body string, want ...int) int {
	status, answer := k.ask(ctx, t, method, path, kind, key, body)
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	good := false
	for _, s := range want {
		good = good || s == status
	}
	if err := json.Unmarshal([]byte(answer), &envelope); err != nil || !good {
		t.Errorf("%s %s is answered with %d %s", method, path, status, answer)
		return status
	}
	if status < http.StatusMultipleChoices && into != nil {
		if err := json.Unmarshal(envelope.Data, into); err != nil {
			t.Error(err)
		}
	}
	return status
}

// upload uploads a bill, records it as acknowledged, and returns its id.
func (k *portKilling) upload(ctx context.Context, t *testing.T) string {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	part, err := w.CreateFormFile("file", "bill.pdf")
	if err == nil {
		_, err = fmt.Fprintf(part, "%s%d\n%s", bill, k.numbers.Add(1), strings.Repeat("x", 100_000))
	}
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	var kept struct {
		SID string `json:"document_sid"`
	}
	k.must(ctx, t, &kept, http.MethodPost, "/v1/sip/port/document", w.FormDataContentType(), "", form.String(), http.StatusCreated)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bills = append(k.bills, kept.SID)
	return kept.SID
}

// tell runs a story: it uploads a bill and requests a port. Then it randomly signs, declines or ignores the letter, or cancels the request.
func (k *portKilling) tell(ctx context.Context, t *testing.T, random *mathrand.Rand) {
	n := k.numbers.Add(1)
	s := &portStory{number: fmt.Sprintf("+1415777%04d", n)}
	link := k.initiate(ctx, t, s, k.upload(ctx, t))
	if t.Failed() || ctx.Err() != nil {
		return
	}
	switch random.IntN(8) {
	case 0:
		k.cancel(ctx, t, s)
	case 1:
		k.answer(ctx, t, s, link, url.Values{"decision": {"decline"}, "reason": {"We stay."}})
	case 2: // the letter stays unanswered
	case 3:
		var again struct {
			URL string `json:"signature_url"`
		}
		k.must(ctx, t, &again, http.MethodPost, "/v1/sip/port/"+s.id+"/letter/resend", "application/json", "", "", http.StatusOK)
		k.sign(ctx, t, s, again.URL)
	case 4:
		k.sign(ctx, t, s, link)
		k.cancel(ctx, t, s)
	default:
		k.sign(ctx, t, s, link)
		s.wanted = true
	}
}

// initiate requests a port and returns the link to the letter. All repetitions of the request use the same idempotency key.
func (k *portKilling) initiate(ctx context.Context, t *testing.T, s *portStory, sid string) string {
	body := fmt.Sprintf(`{"phone_numbers":[%q],"documents":["%s"],"webhook_url":%q,"losing_carrier_information":{
		"customer_type":"personal","first_name":"Robin","last_name":"Doe","account_number":"88231","pin":"4711",
		"authorized_representative_email":%q,"notification_emails":[%q],
		"address":{"street":"1 Main Street","city":"Oakland","state":"CA","zip":"94607","country":"US"}}}`,
		s.number, sid, k.hooks.url, signerMail, officeMail)
	var begun struct {
		ID  string `json:"port_request_id"`
		URL string `json:"signature_url"`
	}
	k.must(ctx, t, &begun, http.MethodPost, "/v1/sip/port/initiate", "application/json", "key "+s.number, body, http.StatusCreated)
	s.id = begun.ID
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stories = append(k.stories, s)
	return begun.URL
}

// cancel cancels a request. It accepts a conflict, because the port may have completed before.
func (k *portKilling) cancel(ctx context.Context, t *testing.T, s *portStory) {
	k.must(ctx, t, nil, http.MethodDelete, "/v1/sip/port/"+s.id, "", "", "", http.StatusOK, http.StatusAccepted, http.StatusConflict)
	s.over = true
}

// shownHash matches the SHA-256 checksum of the letter in the form of the signing page.
var shownHash = regexp.MustCompile(`[0-9a-f]{64}`)

func (k *portKilling) sign(ctx context.Context, t *testing.T, s *portStory, link string) {
	status, page := k.ask(ctx, t, http.MethodGet, link, "", "", "")
	if status != http.StatusOK {
		t.Errorf("the page of %s is answered with %d", s.id, status)
	}
	k.answer(ctx, t, s, link, url.Values{
		"decision": {"sign"}, "signer_name": {"Robin Doe"}, "consent": {"yes"}, "authority": {"yes"},
		"letter_sha256": {shownHash.FindString(page)},
	})
	s.signed = true
}

// answer signs or declines a letter. It accepts the statuses 409 and 410, because an earlier request without an answer may have taken
// effect.
func (k *portKilling) answer(ctx context.Context, t *testing.T, s *portStory, link string, form url.Values) {
	status, page := k.ask(ctx, t, http.MethodPost, link, "application/x-www-form-urlencoded", "", form.Encode())
	if status != http.StatusOK && status != http.StatusConflict && status != http.StatusGone {
		t.Errorf("the answer to the letter of %s is answered with %d %s", s.id, status, page)
	}
	s.over = true
}

// hintAll sends an event of the carrier for each of the newest stories. most is the maximum number of events.
func (k *portKilling) hintAll(ctx context.Context, t *testing.T, most int) {
	k.mu.Lock()
	last := k.stories[max(0, len(k.stories)-most):]
	k.mu.Unlock()
	for _, s := range last {
		if s.id != "" && ctx.Err() == nil {
			k.mu.Lock()
			node := k.nodes[0]
			k.mu.Unlock()
			hint(t, node, s.id)
		}
	}
}

// portState is a port request in an answer of the API.
type portState struct {
	Status  string `json:"status"`
	Numbers []struct {
		Number  string  `json:"number"`
		Status  string  `json:"status"`
		Inbound *string `json:"inbound"`
	} `json:"phone_numbers"`
	History []struct {
		At   string  `json:"at"`
		From *string `json:"from"`
		To   string  `json:"to"`
	} `json:"history"`
}

func (k *portKilling) state(ctx context.Context, t *testing.T, id string) portState {
	var got struct {
		Request portState `json:"port_request"`
	}
	k.must(ctx, t, &got, http.MethodGet, "/v1/sip/port/"+id, "", "", "", http.StatusOK)
	return got.Request
}

// check waits until every signed, declined or canceled request has ended, and checks all acknowledged writes.
func (k *portKilling) check(ctx context.Context, t *testing.T) {
	t.Helper()
	ported := 0
	for _, s := range k.stories {
		if t.Failed() {
			return
		}
		var got portState
		within(t, "the request "+s.id+" to end", func() bool {
			got = k.state(ctx, t, s.id)
			if s.over && got.Status != "completed" && got.Status != "canceled" && got.Status != "failed" {
				hint(t, k.nodes[0], s.id)
				return false
			}
			return len(got.Numbers) == 1 && (got.Status != "completed" || got.Numbers[0].Inbound != nil)
		})
		if s.wanted && got.Status != "completed" || !s.over && got.Status != "waiting_for_signature" {
			t.Errorf("the request %s, %+v, is %s", s.id, *s, got.Status)
		}
		if got.Status == "completed" {
			ported++
		}
		k.checkTold(t, s, got)
		k.checkTrail(ctx, t, s)
	}
	k.checkList(ctx, t, ported)
	k.checkBills(ctx, t)
	t.Logf("%d requests, %d numbers ported, %d bills, %d requests answered", len(k.stories), ported, len(k.bills), k.answered.Load())
}

// checkTold checks the history of a request. Every change of the request's state must have been mailed to both recipients, and every entry
// sent to the webhook.
func (k *portKilling) checkTold(t *testing.T, s *portStory, got portState) {
	t.Helper()
	state, last := "", ""
	for i, e := range got.History {
		if from := e.From; i == 0 && from != nil || i > 0 && (from == nil || *from != state) || e.At < last {
			t.Errorf("entry %d of %s comes after %q: %+v", i+1, s.id, state, got.History)
		}
		changed := e.To != state
		state, last = e.To, e.At
		for recipient, to := range []string{signerMail, officeMail} {
			id := fmt.Sprintf("<%s.%d.%d@callwright.example>", s.id, i+1, recipient)
			if changed {
				within(t, "the mail "+id+" to come", func() bool { return k.box.Has(to, id) })
			}
		}
	}
	if state != got.Status {
		t.Errorf("the history of %s ends with %q, and it is %s", s.id, state, got.Status)
	}
	within(t, "the webhook to know all of "+s.id, func() bool { return k.hooks.told(s.id) >= len(got.History) })
	if n := k.hooks.told(s.id); n != len(got.History) {
		t.Errorf("the webhook was told %d entries of %s, which has %d", n, s.id, len(got.History))
	}
}

// checkTrail checks the audit trail of a letter and the checksums of its PDFs.
func (k *portKilling) checkTrail(ctx context.Context, t *testing.T, s *portStory) {
	t.Helper()
	var got struct {
		Evidence loa.Evidence `json:"evidence"`
	}
	k.must(ctx, t, &got, http.MethodGet, "/v1/sip/port/"+s.id+"/letter", "", "", "", http.StatusOK)
	status, pdf := k.ask(ctx, t, http.MethodGet, "/v1/sip/port/"+s.id+"/letter.pdf", "", "", "")
	if status != http.StatusOK {
		t.Errorf("the letter of %s is answered with %d", s.id, status)
	}
	letter, signed := []byte(pdf), []byte(nil)
	if s.signed {
		letter, signed = nil, []byte(pdf)
	}
	if err := loa.Verify(got.Evidence, letter, signed); err != nil {
		t.Errorf("the audit trail of %s: %v", s.id, err)
	}
	kinds := map[loa.EventKind]int{}
	for _, e := range got.Evidence.Events {
		kinds[e.Kind]++
	}
	if kinds[loa.EventCreated] != 1 || kinds[loa.EventSigned] > 1 || s.signed != (kinds[loa.EventSigned] == 1) || kinds[loa.EventSigned] != kinds[loa.EventSealed] {
		t.Errorf("the audit trail of %s, %+v, has %v", s.id, *s, kinds)
	}
}

// checkList checks that each acknowledged request is listed once, and that exactly the ported numbers are registered.
func (k *portKilling) checkList(ctx context.Context, t *testing.T, ported int) {
	t.Helper()
	seen := map[string]int{}
	for cursor := ""; ; {
		var page struct {
			Requests []struct {
				ID string `json:"id"`
			} `json:"port_requests"`
			Next *string `json:"next_cursor"`
		}
		k.must(ctx, t, &page, http.MethodGet, "/v1/sip/port?limit=100&cursor="+url.QueryEscape(cursor), "", "", "", http.StatusOK)
		for _, r := range page.Requests {
			seen[r.ID]++
		}
		if page.Next == nil {
			break
		}
		cursor = *page.Next
	}
	for _, s := range k.stories {
		if seen[s.id] != 1 {
			t.Errorf("the request %s is %d times in the list", s.id, seen[s.id])
		}
	}
	if len(seen) != len(k.stories) {
		t.Errorf("there are %d requests; %d were acknowledged", len(seen), len(k.stories))
	}
	var numbers int
	for _, s := range k.stories {
		status, _ := k.ask(ctx, t, http.MethodGet, "/v1/inbound/"+s.number, "", "", "")
		if status == http.StatusOK {
			numbers++
		}
	}
	if numbers != ported {
		t.Errorf("%d numbers are ported and %d are registered", ported, numbers)
	}
}

// checkBills requests further ports with all acknowledged bills, which fails if a bill is lost.
func (k *portKilling) checkBills(ctx context.Context, t *testing.T) {
	t.Helper()
	const together = 20 // maximum number of documents in a request
	for len(k.bills) > 0 {
		some := k.bills[:min(together, len(k.bills))]
		k.bills = k.bills[len(some):]
		s := &portStory{number: fmt.Sprintf("+1415778%04d", len(k.bills))}
		k.initiate(ctx, t, s, strings.Join(some, `","`))
	}
}
