package portingtest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// GatewayTests returns the names of the tests of RunGateway.
func GatewayTests() (names []string) {
	for _, test := range gatewayTests {
		names = append(names, test.name)
	}
	return names
}

// CheckGateway runs the tests of RunGateway sequentially. It returns the reports of the failed tests by name.
func CheckGateway(ctx context.Context, newGateway func(c GatewayCase) GatewayHarness) map[string][]string {
	failed := map[string][]string{}
	for _, test := range gatewayTests {
		r := &recorder{ctx: ctx}
		var running sync.WaitGroup
		running.Go(func() { test.run(r, gateway{newGateway(test.of)}) })
		running.Wait()
		if len(r.reports) > 0 {
			failed[test.name] = r.reports
		}
	}
	return failed
}

// recorder is a reporter that records failures instead of failing a test.
type recorder struct {
	ctx     context.Context //nolint:containedctx // as a *testing.T has one
	mu      sync.Mutex
	reports []string
}

func (*recorder) Helper()                    {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Error(args ...any)        { r.Errorf("%s", fmt.Sprint(args...)) }

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

// CheckCarrierGateway runs the fault test of RunCarrierGateway with the given name, and returns its reports. The result is empty if the
// test passes.
func CheckCarrierGateway(t *testing.T, h CarrierGateway, name string) []string {
	t.Helper()
	r := &recorder{ctx: t.Context()}
	for _, call := range gatewayCalls {
		for _, fault := range Faults() {
			if call.name+": "+string(fault) == name {
				var running sync.WaitGroup
				running.Go(func() { h.testFault(t, r, call, fault) })
				running.Wait()
			}
		}
	}
	return r.reports
}
