package main

import (
	"testing"

	"recrawld/config"
)

func TestStoreIsNamedWithoutItsPassword(t *testing.T) {
	t.Parallel()
	for store, want := range map[string]string{
		"sqlite": "sqlite",
		"postgres://crawl@127.0.0.1/db?sslmode=disable": "postgres://crawl@127.0.0.1/db?sslmode=disable",
		"postgres://crawl:secret@127.0.0.1/db":          "postgres://crawl:***@127.0.0.1/db",
	} {
		c := config.Default()
		c.Store = store
		if got := storeName(&c); got != want {
			t.Errorf("storeName() of %s = %s, want %s", store, got, want)
		}
	}
}
