package transport

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/emiago/sipgo/sip"
)

// transactions holds a stack's client transactions. sipgo could hold them, but panics when a connection closes at the wrong
// moment (v1.7.2): TransactionLayer.Request lists a transaction before it has a state, and the code that ends the
// transactions of a closed connection then dereferences nil. Here each transaction watches its own connection.
type transactions struct {
	mu     sync.Mutex
	all    map[string]*sip.ClientTx
	closed bool
}

var errStackClosed = errors.New("the stack is closed")

// begin starts a transaction over a connection, and releases the connection in the end.
func (t *transactions) begin(req *sip.Request, conn sip.Connection) (*sip.ClientTx, error) {
	key, err := sip.ClientTxKeyMake(req)
	if err != nil {
		_, _ = conn.TryClose()
		return nil, err
	}
	tx := sip.NewClientTx(key, req, conn, quiet())
	tx.OnTerminate(func(string, error) { t.unlist(key) })
	t.mu.Lock()
	closed := t.closed
	if !closed {
		t.all[key] = tx
	}
	t.mu.Unlock()
	if closed {
		tx.Terminate()
		return nil, errStackClosed
	}
	if err := tx.Init(); err != nil {
		tx.Terminate()
		return nil, err
	}
	guard(tx)
	return tx, nil
}

func (t *transactions) unlist(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, key)
}

// receive delivers a response to its transaction. It drops responses without one.
func (t *transactions) receive(res *sip.Response) {
	key, err := sip.ClientTxKeyMake(res)
	if err != nil {
		return
	}
	t.mu.Lock()
	tx := t.all[key]
	t.mu.Unlock()
	if tx != nil {
		tx.Receive(res)
	}
}

func (t *transactions) close() {
	t.mu.Lock()
	t.closed = true
	all := make([]*sip.ClientTx, 0, len(t.all))
	for _, tx := range t.all {
		all = append(all, tx)
	}
	t.mu.Unlock()
	for _, tx := range all {
		tx.Terminate()
	}
}

// guard ends a transaction soon after its connection has closed.
func guard(tx *sip.ClientTx) {
	time.AfterFunc(sip.T1/5, func() {
		select {
		case <-tx.Done():
			return
		default:
		}
		if isClosed(tx.Connection()) {
			tx.Terminate()
			return
		}
		guard(tx)
	})
}

// isClosed reports whether a connection has closed, on either side.
func isClosed(conn sip.Connection) bool {
	tcp, ok := conn.(*sip.TCPConnection)
	if !ok {
		return false
	}
	secure, ok := tcp.Conn.(interface{ NetConn() net.Conn })
	if !ok {
		return false
	}
	socket, ok := secure.NetConn().(syscall.Conn)
	if !ok {
		return false
	}
	raw, err := socket.SyscallConn()
	return err != nil || raw.Control(func(uintptr) {}) != nil
}
