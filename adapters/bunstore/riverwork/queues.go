package riverwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/node"
)

// defaultWorkers is the number of tasks of a queue that run concurrently on a node. A waiting worker costs little, so queues that wait
// for others have many; more workers do not make computing or writing faster.
var defaultWorkers = map[callwright.Queue]int{
	callwright.QueueCalls: 32, callwright.QueueWebhooks: 100, callwright.QueueMail: 16, callwright.QueueModels: 32,
	callwright.QueueTests: 16, callwright.QueuePorting: 16, callwright.QueueUpkeep: 16,
}

const (
	otherWorkers = 32 // of queues that this package does not know
	passers      = 16 // further workers, which put off the tasks of organizations that have their share
)

// undeclared is the queue of tasks whose kind this process does not handle, and of tasks from before the other queues. Every node
// works on it.
const undeclared callwright.Queue = river.QueueDefault

// queue is a queue with its workers.
type queue struct {
	workers int
	shares  *node.Shares // of organizations
}

// addQueue adds a queue, unless it is known.
func (w *Work) addQueue(name callwright.Queue) {
	if _, known := w.queues[name]; known {
		return
	}
	workers := cmp.Or(w.cfg.Workers[name], defaultWorkers[name], otherWorkers)
	w.queues[name] = queue{workers: workers, shares: &node.Shares{Total: workers}}
}

// queueOf returns the queue of a kind.
func (w *Work) queueOf(kind string) string {
	return string(cmp.Or(w.kinds[kind], undeclared))
}

// riverQueues returns the queues in River's form.
func (w *Work) riverQueues() map[string]river.QueueConfig {
	queues := map[string]river.QueueConfig{}
	for name, q := range w.queues {
		queues[string(name)] = river.QueueConfig{MaxWorkers: q.workers + passers}
	}
	return queues
}

// seat gives a task one of the worker places of its organization. release is nil if none is free, and the task is postponed.
func (s *step) seat(job *river.Job[taskArgs]) (release func(), putOff error) {
	release, wait := s.work.queues[callwright.Queue(job.Queue)].shares.Claim(job.Args.Org)
	if release == nil {
		return nil, river.JobSnooze(wait)
	}
	return release, nil
}

// looked returns the time at which a node last began to work on each queue; absent for never.
func looked(ctx context.Context, client worker, queues []string) (map[string]time.Time, error) {
	times := map[string]time.Time{}
	for _, name := range queues {
		q, err := client.QueueGet(ctx, name)
		switch {
		case errors.Is(err, rivertype.ErrNotFound):
		case err != nil:
			return nil, err
		default:
			times[name] = q.UpdatedAt
		}
	}
	return times, nil
}

// idle returns an error that names the queues on which no node began to work between two looks.
func idle(before, after map[string]time.Time, queues []string) error {
	for _, name := range queues {
		if !after[name].After(before[name]) {
			return fmt.Errorf("the queue %s is not worked on", name)
		}
	}
	return nil
}

// names returns the names of the queues, sorted.
func (w *Work) names() []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(w.queues)) {
		names = append(names, string(name))
	}
	return names
}
