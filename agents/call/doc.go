// Package call makes and takes telephone calls with an agent on them: it queues, places, runs and ends them, and keeps
// one record a call with its transcript and recording.
package call
