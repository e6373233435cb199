"""An hsb Parquet file that is damaged, or was changed after it was written, is refused."""

import pytest

import hsb
import hsb.logs

pytest.importorskip("pyarrow")


def test_damaged_files(tmp_path):
    path = tmp_path / "log.parquet"
    hsb.logs.write(path, hsb.logs.SyntheticToday(20_000, seed=3), "parquet")
    raw = path.read_bytes()
    path.write_bytes(raw[:-100])
    with pytest.raises(hsb.FileError, match="Parquet"):
        hsb.logs.open(path)
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.write_bytes(raw)
    table = pq.read_table(path).replace_schema_metadata({"hsb": pq.ParquetFile(path).metadata.metadata[b"hsb"]})
    for name, value in (("arm", 99), ("pool", 999), ("propensity", 0.0), ("reward", float("nan"))):
        column = table[name].to_pylist()
        column[5] = value
        if name == "propensity":
            column = [0.04 if one is None else one for one in column]
        changed = table.set_column(
            table.schema.get_field_index(name), table.schema.field(name), pa.array(column, table.schema.field(name).type)
        )
        pq.write_table(changed, path)
        with pytest.raises(hsb.FileError, match="damaged"):
            list(hsb.logs.open(path))
