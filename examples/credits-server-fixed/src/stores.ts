import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import pg from "pg";
import { createClient } from "redis";

export const pool = new pg.Pool({ connectionString: process.env.POSTGRES_URL });
export const redis = createClient({ url: process.env.REDIS_URL });
export const mongo = new MongoClient(process.env.MONGO_URL ?? "mongodb://localhost:27017");

export const wallets = mongo.db("credits").collection<{ _id: string; balance: number }>("wallets");
export const files = mongo.db("credits").collection<{ _id: string; ownerId: string; body: string }>("files");

export const DATA = process.env.CREDITS_DATA ?? "./data";

export async function connect(): Promise<void> {
  await mkdir(join(DATA, "reports"), { recursive: true });
  await mkdir(join(DATA, "preferences"), { recursive: true });
  await Promise.all([redis.connect(), mongo.connect()]);
}
