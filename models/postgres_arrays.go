package models

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/jackc/pgx/v5/pgtype"
)

// Batches go to PostgreSQL as arrays, a column each. pgx writes an array element by element, through two interfaces and with
// memory for each; arrayCodec writes those that the tables have at once.

// learnArrays makes a connection write arrays so.
func learnArrays(types *pgtype.Map) {
	for array, element := range map[uint32]uint32{
		pgtype.Int2ArrayOID: pgtype.Int2OID, pgtype.Int8ArrayOID: pgtype.Int8OID, pgtype.TextArrayOID: pgtype.TextOID,
		pgtype.ByteaArrayOID: pgtype.ByteaOID, pgtype.BoolArrayOID: pgtype.BoolOID, pgtype.Float4ArrayOID: pgtype.Float4OID,
	} {
		if known, ok := types.TypeForOID(array); ok {
			types.RegisterType(&pgtype.Type{Name: known.Name, OID: array, Codec: arrayCodec{known.Codec, element}})
		}
	}
}

// arrayCodec is a codec of arrays that has its own way with slices in the binary format.
type arrayCodec struct {
	pgtype.Codec
	element uint32 // what the array is of
}

// PlanEncode implements pgtype.Codec.
func (c arrayCodec) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if format == pgtype.BinaryFormatCode {
		plan := arrayPlan{c.element}
		switch value.(type) {
		case []int64:
			if c.element == pgtype.Int8OID {
				return plan
			}
		case []int16:
			if c.element == pgtype.Int2OID {
				return plan
			}
		case []string:
			if c.element == pgtype.TextOID {
				return plan
			}
		case [][]byte:
			if c.element == pgtype.ByteaOID {
				return plan
			}
		case []bool:
			if c.element == pgtype.BoolOID {
				return plan
			}
		case []float64:
			if c.element == pgtype.Float4OID {
				return plan
			}
		}
	}
	return c.Codec.PlanEncode(m, oid, format, value)
}

// arrayPlan writes slices as arrays of an element.
type arrayPlan struct{ element uint32 }

// Encode implements pgtype.EncodePlan.
func (p arrayPlan) Encode(value any, buf []byte) ([]byte, error) {
	put := binary.BigEndian
	switch list := value.(type) {
	case []int64:
		buf = p.head(slices.Grow(buf, 20+12*len(list)), len(list), false)
		for _, v := range list {
			buf = put.AppendUint64(put.AppendUint32(buf, 8), uint64(v))
		}
	case []int16:
		buf = p.head(buf, len(list), false)
		for _, v := range list {
			buf = put.AppendUint16(put.AppendUint32(buf, 2), uint16(v))
		}
	case []string:
		buf = p.head(buf, len(list), false)
		for _, v := range list {
			buf = append(put.AppendUint32(buf, uint32(len(v))), v...)
		}
	case [][]byte:
		return p.blobs(list, buf), nil
	case []bool:
		buf = p.head(buf, len(list), false)
		for _, v := range list {
			buf = append(put.AppendUint32(buf, 1), bit(v))
		}
	case []float64:
		buf = p.head(buf, len(list), false)
		for _, v := range list {
			buf = put.AppendUint32(put.AppendUint32(buf, 4), math.Float32bits(float32(v)))
		}
	}
	return buf, nil
}

// blobs writes a list in which nil is NULL.
func (p arrayPlan) blobs(list [][]byte, buf []byte) []byte {
	nulls := false
	for _, v := range list {
		nulls = nulls || v == nil
	}
	buf = p.head(buf, len(list), nulls)
	for _, v := range list {
		if v == nil {
			buf = binary.BigEndian.AppendUint32(buf, math.MaxUint32) // -1
			continue
		}
		buf = append(binary.BigEndian.AppendUint32(buf, uint32(len(v))), v...)
	}
	return buf
}

// head is what an array of one dimension begins with; an empty one has none (array_recv).
func (p arrayPlan) head(buf []byte, length int, nulls bool) []byte {
	put := binary.BigEndian
	dimensions := uint32(min(length, 1))
	buf = put.AppendUint32(put.AppendUint32(buf, dimensions), uint32(bit(nulls)))
	if buf = put.AppendUint32(buf, p.element); length > 0 {
		buf = put.AppendUint32(put.AppendUint32(buf, uint32(length)), 1) // from 1 on
	}
	return buf
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
