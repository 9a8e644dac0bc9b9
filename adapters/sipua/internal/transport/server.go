package transport

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"

	"github.com/callwright/callwright/adapters/sipua/internal/message"
)

// The reasons why a server transaction has ended.
var (
	ErrCanceled = errors.New("the request was canceled")
	ErrLost     = errors.New("the connection of the request has closed")
	errAnswered = errors.New("the request was answered")
)

// server holds a stack's server transactions. TLS neither loses nor duplicates messages. A transaction therefore exists only for an INVITE,
// which a CANCEL may follow, and only until its final response. All other requests and all refusals leave no state (RFC 3261, 8.2.7). sipgo
// would store a refused INVITE for 64*T1, and use a goroutine for each request.
type server struct {
	handle Handler

	mu      sync.Mutex
	invites map[string]*ServerTx // INVITEs without a final response
	closed  bool
}

// receive handles a message in the goroutine that reads its connection. The connection of a peer that does not read our responses, or
// exceeds its rate limit, is therefore not read either. Messages of a connection are handled in the order of their arrival.
func (s *Stack) receive(msg sip.Message) {
	switch msg := msg.(type) {
	case *sip.Response:
		s.client.receive(msg)
	case *sip.Request:
		s.request(msg)
	}
}

func (s *Stack) request(req *sip.Request) {
	from, err := netip.ParseAddrPort(req.Source())
	if err != nil {
		return
	}
	conn := s.Existing(from)
	if conn == nil {
		return // the connection has closed, so no response is possible
	}
	if s.server.handle.Pace != nil {
		s.server.handle.Pace(from)
	}
	tx := &ServerTx{req: req, conn: conn, stack: s}
	key, err := keyOfInvite(req)
	switch {
	case err != nil: // malformed; the handler refuses the request
	case req.IsCancel():
		if invite := s.server.find(key); invite != nil {
			invite.cancel(tx)
			return
		}
	case req.IsInvite():
		first, open := s.server.begin(key, tx)
		switch {
		case !open:
			return
		case first != tx:
			first.repeat()
			return
		}
		tx.watch()
	}
	s.server.handle.Request(req, tx)
}

// keyOfInvite returns the key of an INVITE's transaction, for the INVITE itself or for its CANCEL (RFC 3261, 17.2.3 and 9.2). It returns an
// error for a malformed request.
func keyOfInvite(req *sip.Request) (string, error) {
	via, cseq := req.Via(), req.CSeq()
	if via == nil || cseq == nil {
		return "", errors.New("a request without Via or CSeq")
	}
	branch := via.Params.GetOr("branch", "")
	if len(branch) > len(sip.RFC3261BranchMagicCookie) && branch[:len(sip.RFC3261BranchMagicCookie)] == sip.RFC3261BranchMagicCookie {
		return fmt.Sprintf("%s %s:%d", branch, via.Host, via.Port), nil
	}
	if req.CallID() == nil || req.From() == nil { // a peer of RFC 2543 sends no unique branch
		return "", errors.New("a request without Call-ID or From")
	}
	return fmt.Sprintf("%s %s %d %s", req.CallID().Value(), message.Tag(req.From().Params), cseq.SeqNo, via.Value()), nil
}

func (s *server) find(key string) *ServerTx {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.invites[key]
}

// begin lists a transaction. If a transaction with the same key is already listed, begin returns that transaction instead. open is false if
// the stack is closed.
func (s *server) begin(key string, tx *ServerTx) (listed *ServerTx, open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	if first := s.invites[key]; first != nil {
		return first, true
	}
	tx.key = key
	s.invites[key] = tx
	return tx, true
}

func (s *server) unlist(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.invites, key)
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.invites)
}

func (s *server) close() {
	s.mu.Lock()
	s.closed = true
	all := make([]*ServerTx, 0, len(s.invites))
	for _, tx := range s.invites {
		all = append(all, tx)
	}
	s.mu.Unlock()
	for _, tx := range all {
		tx.mu.Lock()
		tx.end(errAnswered)
		tx.mu.Unlock()
	}
}

// ServerTx is the server transaction of a received request. It is safe for concurrent use.
type ServerTx struct {
	req   *sip.Request
	conn  sip.Connection
	stack *Stack
	key   string // key in server.invites; empty if the transaction is not listed

	mu       sync.Mutex
	last     *sip.Response // the last response that was sent
	over     error         // why the transaction has ended; afterwards only a 2xx may be sent again
	canceled func(*sip.Request)
	lost     func()
	trying   *time.Timer
	guard    *time.Timer
}

// Stack returns the stack whose connection received the request.
func (t *ServerTx) Stack() *Stack { return t.stack }

// Connection returns the connection that received the request.
func (t *ServerTx) Connection() sip.Connection { return t.conn }

// Respond sends a response. The first final response ends the transaction. A 2xx to an INVITE may then be sent again. Respond returns
// ErrCanceled if the request was canceled, ErrLost if its connection has closed, and another error if the request was already answered.
func (t *ServerTx) Respond(res *sip.Response) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.respond(res)
}

// respond implements Respond. The caller must hold the mutex.
func (t *ServerTx) respond(res *sip.Response) error {
	again := t.over != nil && res == t.last && t.req.IsInvite() && res.IsSuccess()
	if t.over != nil && !again {
		return t.over
	}
	if err := t.conn.WriteMsg(res); err != nil {
		_ = t.conn.Close() // after a failed write the connection is unusable
		t.lose()
		return fmt.Errorf("%w: %w", ErrLost, err)
	}
	t.last = res
	switch {
	case !res.IsProvisional():
		t.end(errAnswered)
	case t.trying != nil:
		t.trying.Stop()
	}
	return nil
}

// Watch sets the functions to call if the peer cancels an INVITE, or its connection closes, before the final response. At most one of the
// two functions is called, at most once. The functions must neither block nor use the transaction. Watch returns ErrCanceled or ErrLost if
// the INVITE was already canceled or its connection has closed. It does nothing for an answered transaction.
func (t *ServerTx) Watch(canceled func(cancel *sip.Request), lost func()) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over == nil {
		t.canceled, t.lost = canceled, lost
	}
	if errors.Is(t.over, errAnswered) {
		return nil
	}
	return t.over
}

// watch sends 100 unless another response is sent within 200 ms (RFC 3261, 17.2.1). It also ends the transaction when its connection
// closes.
func (t *ServerTx) watch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trying = time.AfterFunc(sip.Timer_1xx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.last == nil {
			_ = t.respond(message.Refusal{Status: sip.StatusTrying}.Response(t.req, ""))
		}
	})
	t.guardConnection()
}

// guardConnection checks every T1/5 whether the connection has closed, because sipgo does not report that. The caller must hold the mutex.
func (t *ServerTx) guardConnection() {
	t.guard = time.AfterFunc(sip.T1/5, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case t.over != nil:
		case isClosed(t.conn):
			t.lose()
		default:
			t.guardConnection()
		}
	})
}

// lose ends a transaction whose connection has closed, and calls the function lost, if set. The caller must hold the mutex.
func (t *ServerTx) lose() {
	if t.over == nil && t.lost != nil {
		t.lost()
	}
	t.end(ErrLost)
}

// cancel answers a CANCEL with 200. Unless the transaction has ended, cancel also answers the transaction's INVITE with 487 (RFC 3261,
// 9.2), and calls the function canceled, if set. The argument by is the transaction of the CANCEL.
func (t *ServerTx) cancel(by *ServerTx) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = by.Respond(t.tagged(message.Refusal{Status: sip.StatusOK}.Response(by.req, "")))
	if t.over != nil {
		return
	}
	canceled := t.canceled
	t.lost = nil // only one of canceled and lost is called
	_ = t.respond(t.tagged(message.Refusal{Status: sip.StatusRequestTerminated}.Response(t.req, "")))
	t.over = ErrCanceled
	if canceled != nil {
		canceled(by.req)
	}
}

// tagged adds the To tag of the last response to a response.
func (t *ServerTx) tagged(res *sip.Response) *sip.Response {
	if t.last == nil || t.last.To() == nil || res.To() == nil {
		return res
	}
	if tag := message.Tag(t.last.To().Params); tag != "" {
		res.To().Params.Add("tag", tag)
	}
	return res
}

// repeat sends the last response again, because the peer has repeated its INVITE.
func (t *ServerTx) repeat() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != nil && t.over == nil {
		_ = t.conn.WriteMsg(t.last)
	}
}

// end ends a transaction for a reason, unless it has already ended. The caller must hold the mutex.
func (t *ServerTx) end(why error) {
	if t.over != nil {
		return
	}
	t.over, t.canceled, t.lost = why, nil, nil
	for _, timer := range []*time.Timer{t.trying, t.guard} {
		if timer != nil {
			timer.Stop()
		}
	}
	if t.key != "" {
		t.stack.server.unlist(t.key)
	}
}
