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

// defaultWorkers contains, for each queue, the default of the maximum number of tasks that run concurrently on a node. A waiting worker
// costs little, so queues that wait for other systems have many. More workers would not speed up computing or writing.
var defaultWorkers = map[callwright.Queue]int{
	callwright.QueueCalls: 32, callwright.QueueWebhooks: 100, callwright.QueueMail: 16, callwright.QueueModels: 32,
	callwright.QueueTests: 16, callwright.QueuePorting: 16, callwright.QueueUpkeep: 16,
}

const (
	otherWorkers = 32 // workers of a queue that defaultWorkers omits
	passers      = 16 // additional workers, which postpone tasks of organizations that already use their share
)

// undeclared is the queue of tasks whose kind this process does not handle, and of tasks that older releases, which had only one queue,
// have added. Every node polls it.
const undeclared callwright.Queue = river.QueueDefault

// queue describes a queue on this node.
type queue struct {
	workers int
	shares  *node.Shares // divide the workers among organizations
}

// addQueue adds a queue with its configured number of workers, unless it exists.
func (w *Work) addQueue(name callwright.Queue) {
	if _, known := w.queues[name]; known {
		return
	}
	workers := cmp.Or(w.cfg.Workers[name], defaultWorkers[name], otherWorkers)
	w.queues[name] = queue{workers: workers, shares: &node.Shares{Total: workers}}
}

// queueOf returns the queue of a kind, or undeclared if the kind has no handler.
func (w *Work) queueOf(kind string) string {
	return string(cmp.Or(w.kinds[kind], undeclared))
}

// riverQueues returns the configuration of the queues for River.
func (w *Work) riverQueues() map[string]river.QueueConfig {
	queues := map[string]river.QueueConfig{}
	for name, q := range w.queues {
		queues[string(name)] = river.QueueConfig{MaxWorkers: q.workers + passers}
	}
	return queues
}

// seat claims a worker for the organization of a task. If the organization's share is used up, seat returns a nil release and an error that
// postpones the task.
func (s *step) seat(job *river.Job[taskArgs]) (release func(), putOff error) {
	release, wait := s.work.queues[callwright.Queue(job.Queue)].shares.Claim(job.Args.Org)
	if release == nil {
		return nil, river.JobSnooze(wait)
	}
	return release, nil
}

// looked returns, for each queue, the time at which a node last started to work on it. It omits queues without such a time.
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

// idle returns an error that names a queue on which no node started to work between the two results of looked.
func idle(before, after map[string]time.Time, queues []string) error {
	for _, name := range queues {
		if !after[name].After(before[name]) {
			return fmt.Errorf("no node takes tasks from the queue %s", name)
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
