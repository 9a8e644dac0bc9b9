package probe

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/callwright/callwright/adapters/sipua/internal/peer"
	"github.com/callwright/callwright/sip/uri"
)

// The first and the maximum interval of retransmissions over UDP (RFC 3261, 17.1.2.1).
const (
	retransmitFirst = 500 * time.Millisecond
	retransmitMost  = 4 * time.Second
)

// connection is a connection to a server. It carries one request at a time.
type connection struct {
	net.Conn
	datagrams bool
	buffer    []byte // read buffer of a stream
	data      []byte // bytes in buffer that are not yet parsed
	received  int    // bytes received since the current request
	noise     bool   // a datagram that is no SIP response has arrived
}

// connect opens a connection and performs its TLS handshake. config is nil for transports without TLS.
func (p *Prober) connect(
	ctx context.Context, to netip.AddrPort, transport uri.Transport, config *tls.Config,
) (*connection, error) {
	network := "tcp"
	if transport == uri.UDP {
		network = "udp"
	}
	dialer := p.dialer
	if from := peer.Source(p.cfg.Local, to.Addr()); from.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: from.AsSlice()}
		if transport == uri.UDP {
			dialer.LocalAddr = &net.UDPAddr{IP: from.AsSlice()}
		}
	}
	raw, err := dialer.DialContext(ctx, network, to.String())
	if err != nil {
		return nil, err
	}
	if config == nil {
		return &connection{Conn: raw, datagrams: transport == uri.UDP}, nil
	}
	secure := tls.Client(raw, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, err
	}
	return &connection{Conn: secure}, nil
}

// ask sends a request and waits for its final response until ctx ends. It returns the response time. After an error the connection must not
// be used again.
func (c *connection) ask(ctx context.Context, q request) (r response, took time.Duration, err error) {
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // interrupts Read and Write
	defer func() {
		if !stop() && err == nil {
			err = ctx.Err()
		}
	}()
	c.received, c.noise = 0, false
	message := q.write(make([]byte, 0, 512), c.LocalAddr())
	began := time.Now()
	if _, err = c.Write(message); err != nil {
		return response{}, 0, err
	}
	if c.datagrams {
		r, err = c.awaitDatagram(ctx, q, message)
	} else {
		r, err = c.await(q)
	}
	switch {
	case err != nil && c.noise:
		return response{}, 0, errNotSIP
	case err != nil && ctx.Err() != nil:
		return response{}, 0, ctx.Err()
	}
	return r, time.Since(began), err
}

// await reads messages from a stream until it receives the final response.
func (c *connection) await(q request) (response, error) {
	for {
		message, err := c.next()
		if err != nil {
			return response{}, err
		}
		if r, ok := parse(message); ok && r.answers(q.token) {
			return r, nil
		}
	}
}

// next reads one message from a stream. It ignores line breaks before the message, which are keep-alives (RFC 5626, 3.5.1).
func (c *connection) next() (string, error) {
	for {
		c.data = bytes.TrimLeft(c.data, "\r\n")
		length, err := frame(c.data)
		if err != nil {
			return "", err
		}
		if length > 0 {
			message := string(c.data[:length])
			c.data = c.data[length:]
			return message, nil
		}
		if err := c.fill(); err != nil {
			return "", err
		}
	}
}

// fill reads more bytes of a stream into the buffer. It returns errHuge after maxReceived bytes.
func (c *connection) fill() error {
	if c.received > maxReceived {
		return errHuge
	}
	if size := max(2*len(c.data), 2<<10); size > len(c.buffer) {
		larger := make([]byte, size)
		c.data = larger[:copy(larger, c.data)]
		c.buffer = larger
	} else {
		c.data = c.buffer[:copy(c.buffer, c.data)]
	}
	n, err := c.Read(c.buffer[len(c.data):])
	c.data = c.buffer[:len(c.data)+n]
	c.received += n
	if n > 0 {
		return nil
	}
	return err
}

// awaitDatagram reads datagrams until it receives the final response. Until then it retransmits the request. It returns errHuge after
// maxReceived bytes.
func (c *connection) awaitDatagram(ctx context.Context, q request, message []byte) (response, error) {
	buffer := make([]byte, maxMessage)
	wait := retransmitFirst
	next := time.Now().Add(wait)
	for c.received <= maxReceived {
		_ = c.SetReadDeadline(next)
		if ctx.Err() != nil { // SetReadDeadline may have replaced the deadline that ctx has set
			return response{}, ctx.Err()
		}
		n, err := c.Read(buffer)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && ctx.Err() == nil:
			if _, err := c.Write(message); err != nil {
				return response{}, err
			}
			wait = min(2*wait, retransmitMost)
			next = time.Now().Add(wait)
		case err != nil:
			return response{}, err
		default:
			c.received += n
			r, ok := parse(string(buffer[:n]))
			if ok && r.answers(q.token) {
				return r, nil
			}
			c.noise = c.noise || !ok
		}
	}
	return response{}, errHuge
}
