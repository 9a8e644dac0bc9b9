package transport

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/emiago/sipgo/sip"
)

// transactions holds a stack's client transactions. sipgo's own transaction layer is not used, because it panics if a connection closes at
// the wrong moment (v1.7.2). TransactionLayer.Request lists a transaction before it has a state, and the code that ends the transactions of
// a closed connection then dereferences nil. Here each transaction watches its connection itself.
type transactions struct {
	mu     sync.Mutex
	all    map[string]*sip.ClientTx
	closed bool
}

var errStackClosed = errors.New("the stack is closed")

// begin starts a transaction over a connection. It releases the connection when the transaction ends or cannot start.
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

// receive passes a response to its transaction. It drops a response without a transaction.
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

// guard ends a transaction within T1/5 after its connection has closed.
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

// isClosed reports whether our side has closed the socket of a connection, which sipgo also does when the peer closes it.
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
