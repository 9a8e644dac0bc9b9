// Package portingapi serves port requests and letters of authorization, and reports events of requests to webhooks.
package portingapi
