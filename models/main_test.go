package models_test

import (
	"testing"
	"time"

	"recrawld/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

var start = time.Date(2026, 1, 5, 12, 0, 0, 0, time.UTC)
